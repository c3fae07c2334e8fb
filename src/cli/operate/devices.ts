import { type GatewayAnswer } from '../shared/gateway-client.js';
import { byteText } from '../shared/terminal.js';

type Device = GatewayAnswer<'/admin/v1/devices'>['data'][number];

const WIDTH = 40;
/** How each stage is drawn: by itself and in the legend of its model. */
const DRAWN = { resident: '█', loading: '▒', leaving: '░' } as const;

/** Each device as a bar of its memory, with what is on it and what waits for it. */
export const devicesText = (devices: readonly Device[]): string =>
  devices.map(deviceText).join('\n\n');

function deviceText({ id, memory_bytes: memory, models, next, ...device }: Device): string {
  const here = models.flatMap(({ stage, ...model }) => (stage ? [{ ...model, stage }] : []));
  const parts = here.map(({ stage, memory_bytes: bytes }) =>
    DRAWN[stage].repeat(Math.round((bytes / memory) * WIDTH)),
  );
  const lines = here.map(
    ({ id: model, stage, memory_bytes: bytes, running }) =>
      `  ${DRAWN[stage]} ${model}  ${byteText(bytes)}  ${stage}, ${running} running`,
  );
  const waits = models.flatMap(({ awaited, waiting }) =>
    awaited === undefined ? [] : [`  ${waiting} waiting: ${awaited}`],
  );
  const after = next ? [`  ${next.explanation}`] : [];
  const used = `${byteText(device.used_bytes)} of ${byteText(memory)}`;
  const by = device.loaded_by;
  const bar = parts.join('').slice(0, WIDTH).padEnd(WIDTH, '·');
  return [
    `${id}  ${bar}  ${by === undefined ? used : `loaded by ${by}`}`,
    ...lines,
    ...waits,
    ...after,
  ].join('\n');
}
