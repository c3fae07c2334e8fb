import { accessSync, constants } from 'node:fs';
import { camelKeys } from './field-names.js';
import { type ModelSpec, type RemoteSpec, type ReplicaSpec } from './model-spec.js';

/** The fields of a model that say where its workers run; as written, so in snake case. */

const MAX_REPLICAS = 64;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

export const REPLICAS_RULE =
  `0 to ${MAX_REPLICAS}, whole, or a list of {device: text, env: {NAME: value}} ` + '(no SWITCHYARD_ names)';

export const isReplicas = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length <= MAX_REPLICAS && value.every(isReplica)
    : Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_REPLICAS;

const isReplica = (value: unknown): boolean =>
  isFields(value, {
    device: isText,
    env: env =>
      isMap(env) &&
      Object.entries(env).every(([name, content]) => isVariable(name) && SCALARS.includes(typeof content)),
  });

const SCALARS = ['string', 'number', 'boolean'];

/** A worker's own variables are the gateway's affair. */
const isVariable = (name: string): boolean => VARIABLE.test(name) && !name.startsWith('SWITCHYARD_');

export const REMOTE_RULE =
  '{tls: {ca_file, cert_file and key_file, server_name}, token_file}, each of them optional; an empty tls: {} trusts the usual authorities';

export const isRemote = (value: unknown): boolean => isFields(value, { tls: isTls, token_file: isText });

const isTls = (value: unknown): boolean =>
  isFields(value, { ca_file: isText, cert_file: isText, key_file: isText, server_name: isText }) &&
  ((value as object & { cert_file?: string }).cert_file !== undefined) ===
    ((value as object & { key_file?: string }).key_file !== undefined);

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** A map with no other fields than these, each as its rule wants it. */
const isFields = (value: unknown, rules: Readonly<Record<string, (field: unknown) => boolean>>): boolean =>
  isMap(value) && Object.entries(value).every(([name, field]) => rules[name]?.(field) ?? false);

/** YAML writes `0` and `true`; a process gets text. */
export const compileReplicas = (written: NonNullable<ModelSpec['replicas']>): ModelSpec['replicas'] =>
  typeof written === 'number' ? written : written.map(compileReplica);

const compileReplica = ({ device, env }: ReplicaSpec): ReplicaSpec => ({
  ...(device !== undefined && { device }),
  ...(env && { env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])) }),
});

export const compileRemote = (written: object): RemoteSpec => camelKeys(written, ['tls']);

/** Files that cannot be read, by their field: better told at boot than at the first connection. */
export function unreadableFiles({ tls, tokenFile }: RemoteSpec): { field: string[]; file: string }[] {
  const named = [
    { field: ['tls', 'ca_file'], file: tls?.caFile },
    { field: ['tls', 'cert_file'], file: tls?.certFile },
    { field: ['tls', 'key_file'], file: tls?.keyFile },
    { field: ['token_file'], file: tokenFile },
  ];
  return named.flatMap(({ field, file }) => (file === undefined || isReadable(file) ? [] : [{ field, file }]));
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
