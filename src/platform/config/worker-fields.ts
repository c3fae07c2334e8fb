import { accessSync, constants } from 'node:fs';
import {
  type ValueRule,
  isObject,
  mapOf,
  matching,
  objectOf,
  oneOf,
  optional,
  TEXT,
  wholeNumberFrom,
} from '../../core/shared/schema.js';
import { camelKeys, type ModelSpec, type RemoteSpec, REPLICA_ROLES, type ReplicaSpec } from './model-spec.js';

/** The fields of a model that say where its workers run; as written, so in snake case. */

const MAX_REPLICAS = 64;

/** The gateway sets a worker's own variables. */
const VARIABLE = matching(/^(?!SWITCHYARD_)[A-Za-z_][A-Za-z0-9_]*$/, 'a variable, not SWITCHYARD_');

const SCALAR: ValueRule = {
  allowed: 'text, a number, true or false',
  accepts: value => ['string', 'number', 'boolean'].includes(typeof value),
  schema: { type: ['string', 'number', 'boolean'] },
};

const CORES = matching(/^\d{1,4}(-\d{1,4})?(,\d{1,4}(-\d{1,4})?)*$/, "CPU numbers such as '0-3,6'");

const REPLICA = objectOf(
  {
    role: optional(oneOf(REPLICA_ROLES)),
    cores: optional(CORES),
    device: optional(TEXT),
    env: optional(mapOf(SCALAR, '{NAME: value} (no SWITCHYARD_ names)', VARIABLE)),
  },
  `{role: ${REPLICA_ROLES.join(' | ')}, cores: '0-3', device: text, env: {NAME: value}}`,
);

const COUNT = wholeNumberFrom(0, MAX_REPLICAS);

export const REPLICAS: ValueRule = {
  allowed: `${COUNT.allowed}, or a list of ${REPLICA.allowed} (no SWITCHYARD_ names)`,
  accepts: value =>
    COUNT.accepts(value) ||
    (Array.isArray(value) && value.length <= MAX_REPLICAS && value.every(one => REPLICA.accepts(one))),
  item: REPLICA,
  schema: { anyOf: [COUNT.schema, { type: 'array', items: REPLICA.schema, maxItems: MAX_REPLICAS }] },
};

const MAX_ARGUMENTS = 256;
const ARGUMENT = matching(/^[^\0]{0,4096}$/s, 'text of at most 4096 characters (numbers in quotes)');

/** A worker that is not told its port cannot be reached. */
export const COMMAND: ValueRule = {
  allowed: `a list such as ['python', 'worker.py', '--port', '{port}']: a program, then arguments, one with {port}`,
  accepts: value =>
    Array.isArray(value) &&
    value.length <= MAX_ARGUMENTS &&
    value.every(ARGUMENT.accepts) &&
    value[0] !== '' &&
    value.slice(1).some(argument => String(argument).includes('{port}')),
  item: ARGUMENT,
  schema: {
    ...{ type: 'array', items: ARGUMENT.schema, minItems: 2, maxItems: MAX_ARGUMENTS },
    contains: { type: 'string', pattern: '\\{port\\}' },
  },
};

/** What a worker's command is told. */
export type CommandValues = Readonly<Record<'port' | 'host' | 'model' | 'device', string>>;

/** Other braces stay as they are, such as those of JSON. */
export const filledIn = (text: string, values: CommandValues): string =>
  text.replace(/\{(port|host|model|device)\}/g, (_, name: keyof CommandValues) => values[name]);

const PATHS = { ca_file: optional(TEXT), cert_file: optional(TEXT), key_file: optional(TEXT) };
const TLS_FIELDS = objectOf(
  { ...PATHS, server_name: optional(TEXT) },
  '{ca_file, cert_file and key_file, server_name}',
);

const TLS: ValueRule = {
  ...TLS_FIELDS,
  accepts: value => TLS_FIELDS.accepts(value) && isObject(value) && 'cert_file' in value === 'key_file' in value,
  schema: { ...TLS_FIELDS.schema, dependencies: { cert_file: ['key_file'], key_file: ['cert_file'] } },
};

export const REMOTE = objectOf(
  { tls: optional(TLS), token_file: optional(TEXT) },
  `{tls: ${TLS.allowed}, token_file}, all optional; an empty tls: {} trusts the system's authorities`,
);

/** YAML writes `0` and `true`; a process gets text. */
export const compileReplicas = (written: NonNullable<ModelSpec['replicas']>): ModelSpec['replicas'] =>
  typeof written === 'number' ? written : written.map(compileReplica);

const compileReplica = ({ role, cores, device, env }: ReplicaSpec): ReplicaSpec => ({
  ...(role !== undefined && { role }),
  ...(cores !== undefined && { cores }),
  ...(device !== undefined && { device }),
  ...(env && { env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])) }),
});

export const compileRemote = (written: object): RemoteSpec => camelKeys(written, ['tls']);

/** Files that cannot be read, by their field: reported at boot instead of at the first connection. */
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
