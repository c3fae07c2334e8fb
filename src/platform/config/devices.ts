import { totalmem } from 'node:os';
import { type FieldProblem, readFields } from '@switchyard/engine-api/field-problems.js';
import { didYouMean } from '@switchyard/engine-api/nearest-name.js';
import { isMap, isSeq } from 'yaml';
import { DEVICE } from './device-fields.js';
import { type DeviceSpec, type ModelSpec } from './model-spec.js';
import { type ConfigProblem, placed, type YamlFile } from './yaml-file.js';

const UNITS = { K: 10, M: 20, G: 30, T: 40 } as const;

/** Bytes of `12GiB` or `700 MB`. */
export function bytesOfSize(text: string): number {
  const [, number = '', prefix = 'M', binary] = /^([\d.]+) ?([KMGT])(i?)B$/.exec(text) ?? [];
  const power = UNITS[prefix as keyof typeof UNITS];
  return Math.round(Number(number) * (binary ? 2 ** power : 1000 ** (power / 10)));
}

/** `11.5 GiB` */
export const sizeText = (bytes: number): string =>
  bytes < 2 ** 28
    ? `${Math.round(bytes / 2 ** 20)} MiB`
    : `${Math.round((bytes / 2 ** 30) * 100) / 100} GiB`;

/** What this machine has, or what a container may use of it. */
const systemMemory = (): number => Math.min(totalmem(), process.constrainedMemory() || Infinity);

/** The list below `devices:`; what is wrong with it is added to `problems`. */
export function readDevices(file: YamlFile, problems: ConfigProblem[]): readonly DeviceSpec[] {
  const list: unknown = file.document.get('devices');
  if (list === undefined) return [];
  if (!isSeq(list)) {
    problems.push({ origin: file.originOf(list), path: 'devices', message: 'must be a list' });
    return [];
  }
  const devices: DeviceSpec[] = [];
  for (const [index, node] of list.items.entries()) {
    const { data, problems: found } = readDevice(node);
    const isTwice = devices.some(({ id }) => id === data?.id);
    if (isTwice) found.push({ path: ['id'], message: 'names another device already' });
    if (data && !isTwice) devices.push(data);
    problems.push(...found.map(one => placed(file, { node, path: `devices[${index}]` }, one)));
  }
  return devices;
}

function readDevice(node: unknown): {
  readonly data?: DeviceSpec;
  readonly problems: FieldProblem[];
} {
  if (!isMap(node)) return { problems: [{ path: [], message: `must be ${DEVICE.description}` }] };
  const { data, problems } = readFields(DEVICE, node.toJSON());
  if (!data) return { problems: [...problems] };
  const { id, memory, reserve, as } = data as Readonly<Record<string, string>>;
  const all = memory === undefined ? systemMemory() : bytesOfSize(memory);
  const reserveBytes = reserve === undefined ? 0 : bytesOfSize(reserve);
  if (reserveBytes >= all)
    return {
      problems: [
        {
          path: ['reserve'],
          message: `must be less than ${sizeText(all)}, which it has`,
          value: reserve,
        },
      ],
    };
  return { data: { id: id!, memory: all - reserveBytes, reserve: reserveBytes, as }, problems: [] };
}

/** The devices that a model names. */
export function namedDevices(
  names: readonly string[],
  devices: readonly DeviceSpec[],
): { readonly device: readonly DeviceSpec[]; readonly problems: readonly FieldProblem[] } {
  const ids = devices.map(({ id }) => id);
  const problems = names
    .filter(name => !ids.includes(name))
    .map(name => ({
      path: ['device'],
      message:
        ids.length === 0
          ? 'needs `devices:`, a list beside `models:`'
          : `is none of ${ids.join(', ')}${didYouMean(name, ids)}`,
      value: name,
    }));
  return { device: names.flatMap(name => devices.find(({ id }) => id === name) ?? []), problems };
}

/**
 * The pinned models of each device, by its id: each on the first of its devices that has room.
 * Those with the least choice are first, of these the largest. One without room is on none.
 */
export function pinsByDevice(
  models: readonly ModelSpec[],
): ReadonlyMap<string, readonly ModelSpec[]> {
  const pins = new Map<string, readonly ModelSpec[]>();
  const choice = ({ device = [] }: ModelSpec) => device.length;
  const inOrder = models
    .filter(({ pin }) => pin)
    .sort((a, b) => choice(a) - choice(b) || sumOf([b]) - sumOf([a]));
  for (const model of inOrder) {
    const on = model.device?.find(device => fits(model, device, pins.get(device.id)));
    if (on) pins.set(on.id, [...(pins.get(on.id) ?? []), model]);
  }
  return pins;
}

/** Bytes of a device beside its pinned models. */
export const roomOf = ({ memory }: DeviceSpec, pins: readonly ModelSpec[] = []): number =>
  memory - sumOf(pins);

/** What can never be loaded: each with the sums. */
export function* impossible(
  models: readonly ModelSpec[],
): Generator<{ readonly model: ModelSpec; readonly problem: FieldProblem }> {
  const pins = pinsByDevice(models);
  for (const model of models) {
    const { device: devices = [], memory } = model;
    const hasRoom = devices.some(device => {
      const here = pins.get(device.id);
      return here?.includes(model) === true || fits(model, device, here);
    });
    if (devices.length === 0 || hasRoom) continue;
    const sums = devices.map(device => whyNot(memory, device, pins.get(device.id)));
    yield { model, problem: { path: ['memory'], message: sums.join('; ') } };
  }
}

/** A model of unknown size needs some room. */
const fits = ({ memory = 1 }: ModelSpec, device: DeviceSpec, pins?: readonly ModelSpec[]) =>
  memory <= roomOf(device, pins);

const sumOf = (models: readonly ModelSpec[]): number =>
  models.reduce((sum, { memory = 0 }) => sum + memory, 0);

function whyNot(
  memory: number | undefined,
  { id, memory: usable, reserve }: DeviceSpec,
  pins: readonly ModelSpec[] = [],
): string {
  const has = `${id} has ${sizeText(usable)}${reserve > 0 ? ` (${sizeText(usable + reserve)} less ${sizeText(reserve)} in reserve)` : ''}`;
  const beside = pins.map(one => `${one.id} ${sizeText(one.memory ?? 0)}`).join(' + ');
  if (memory === undefined) return `no room is left beside ${beside} (pinned): ${has}`;
  if (pins.length === 0) return `${sizeText(memory)} does not fit: ${has}`;
  return `${sizeText(memory)} + ${beside} (pinned) = ${sizeText(memory + sumOf(pins))} does not fit: ${has}`;
}
