import { accessSync, constants } from 'node:fs';
import { z } from 'zod';
import {
  allowedBy,
  checked,
  mapOf,
  matching,
  objectOf,
  oneOf,
  optional,
  rule,
  TEXT,
  wholeNumberFrom,
} from '../../contracts/schema/rules.js';
import {
  camelKeys,
  type ModelSpec,
  type RemoteSpec,
  REPLICA_ROLES,
  type ReplicaSpec,
} from './model-spec.js';

/** The fields of a model that say where its workers run; as written, so in snake case. */

const MAX_REPLICAS = 64;

/** The gateway sets a worker's own variables. */
const VARIABLE = matching(
  /^(?!SWITCHYARD_)[A-Za-z_][A-Za-z0-9_]*$/,
  'a variable, not SWITCHYARD_',
);

const SCALAR = checked<string | number | boolean>(
  value => ['string', 'number', 'boolean'].includes(typeof value),
  'text, a number, true or false',
  { type: ['string', 'number', 'boolean'] },
);

const CORES = matching(
  /^\d{1,4}(-\d{1,4})?(,\d{1,4}(-\d{1,4})?)*$/,
  "CPU numbers such as '0-3,6'",
);

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

export const REPLICAS = rule(
  `${allowedBy(COUNT)}, or a list of ${allowedBy(REPLICA)} (no SWITCHYARD_ names)`,
  error => z.union([COUNT, z.array(REPLICA).max(MAX_REPLICAS)], error),
);

const MAX_ARGUMENTS = 256;
const ARGUMENT = matching(
  /^[^\0]{0,4096}$/s,
  'text of at most 4096 characters (numbers in quotes)',
);

/** A worker that is not told its port cannot be reached. */
export const COMMAND = rule(
  `a list such as ['python', 'worker.py', '--port', '{port}']: a program, then arguments, one with {port}`,
  error =>
    z
      .array(ARGUMENT, error)
      .min(2, error)
      .max(MAX_ARGUMENTS, error)
      .refine(
        ([program, ...args]) =>
          program !== '' && args.some(argument => argument.includes('{port}')),
        error,
      ),
  { contains: { type: 'string', pattern: '\\{port\\}' } },
);

/** What a worker's command is told. */
type CommandValues = Readonly<Record<'port' | 'host' | 'model' | 'device', string>>;

/** Other braces stay as they are, such as those of JSON. */
export const filledIn = (text: string, values: CommandValues): string =>
  text.replace(
    /\{(port|host|model|device)\}/g,
    (_, name: keyof CommandValues) => values[name],
  );

const PATHS = {
  ca_file: optional(TEXT),
  cert_file: optional(TEXT),
  key_file: optional(TEXT),
};
const TLS_FORM = '{ca_file, cert_file and key_file, server_name}';
const TLS = objectOf({ ...PATHS, server_name: optional(TEXT) }, TLS_FORM)
  .refine(value => 'cert_file' in value === 'key_file' in value, `must be ${TLS_FORM}`)
  .meta({ dependencies: { cert_file: ['key_file'], key_file: ['cert_file'] } });

export const REMOTE = objectOf(
  { tls: optional(TLS), token_file: optional(TEXT) },
  `{tls: ${TLS_FORM}, token_file}, all optional; an empty tls: {} trusts the system's authorities`,
);

/** YAML writes `0` and `true`; a process gets text. */
export const compileReplicas = (
  written: NonNullable<ModelSpec['replicas']>,
): ModelSpec['replicas'] =>
  typeof written === 'number' ? written : written.map(compileReplica);

const compileReplica = ({ env, ...replica }: ReplicaSpec): ReplicaSpec => {
  if (!env) return replica;
  return {
    ...replica,
    env: Object.fromEntries(
      Object.entries(env).map(([name, value]) => [name, String(value)]),
    ),
  };
};

export const compileRemote = (written: object): RemoteSpec => camelKeys(written, ['tls']);

/**
 * Files that cannot be read, by their field: reported at boot instead of at
 * the first connection.
 */
export function unreadableFiles({
  tls,
  tokenFile,
}: RemoteSpec): { field: string[]; file: string }[] {
  const named = [
    { field: ['tls', 'ca_file'], file: tls?.caFile },
    { field: ['tls', 'cert_file'], file: tls?.certFile },
    { field: ['tls', 'key_file'], file: tls?.keyFile },
    { field: ['token_file'], file: tokenFile },
  ];
  return named.flatMap(({ field, file }) =>
    file === undefined || isReadable(file) ? [] : [{ field, file }],
  );
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
