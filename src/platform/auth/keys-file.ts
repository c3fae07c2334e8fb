import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { readFields } from '@switchyard/engine-api/field-problems.js';
import {
  listOf,
  matching,
  objectOf,
  oneOf,
  optional,
  mapOf,
  wholeNumberFrom,
} from '@switchyard/engine-api/rules.js';
import { isMap, isSeq, parseDocument } from 'yaml';
import { LIMIT_NAMES } from '../../core/limits/limit-rules.js';
import { snakeCase } from '../config/model-spec.js';
import {
  ConfigError,
  type ConfigProblem,
  parseYaml,
  placed,
  readNamedFile,
  type YamlFile,
} from '../config/yaml-file.js';
import { newSecret } from './key-secret.js';
import { KEY_SCOPES, type KeyScope } from './principal.js';

/** As the keys file and the command spell them: `requests_per_minute`. */
export const KEY_LIMITS: readonly string[] = LIMIT_NAMES.map(name => snakeCase(name));

/**
 * What `limits` of a key may hold, besides the weight of its tenant in the queues (D-25)
 * and its longest deadline (D-26).
 */
export const KEY_LIMIT_NAMES: readonly string[] = [...KEY_LIMITS, 'weight', 'max_deadline_ms'];

export const LIMITS_RULE = mapOf(
  wholeNumberFrom(1, 1e9),
  `pairs out of ${KEY_LIMIT_NAMES.join(', ')} and whole numbers from 1 to 1e9; leave out what is not limited`,
  oneOf(KEY_LIMIT_NAMES),
);

/** One entry of `auth.keys_file`. */
export interface ApiKeyEntry {
  /** Names the key in logs and when it is withdrawn. */
  readonly id: string;
  readonly tenant: string;
  readonly scopes: readonly KeyScope[];
  /** SHA-256 of the key, 64 hexadecimal digits. */
  readonly sha256: string;
  /**
   * Its own, in place of `limits.*`, 1 or more each; the key is then counted apart from its
   * tenant.
   */
  readonly limits?: Readonly<Record<string, number>>;
}

/** Id of the key of the setting `auth.key`. */
export const SETTING_KEY_ID = 'auth.key';

const NAME = matching(/^[A-Za-z0-9._-]{1,64}$/, '1 to 64 letters, digits and . _ -');

const KEY = objectOf(
  {
    id: NAME,
    tenant: NAME,
    scopes: listOf(oneOf(KEY_SCOPES), `${KEY_SCOPES.join(', ')}`, 1),
    limits: optional(LIMITS_RULE),
    sha256: matching(/^[0-9a-f]{64}$/i, '64 hexadecimal digits'),
  },
  'one key',
);

/** @throws ConfigError naming everything wrong with its line; never quoting a hash. */
export const readKeysFile = (path: string): ApiKeyEntry[] => parseKeys(readText(path), path);

function parseKeys(text: string, name: string): ApiKeyEntry[] {
  const file = parseYaml(text, name);
  const problems: ConfigProblem[] = [...file.problems];
  const entries = problems.length > 0 ? [] : readEntries(file, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return entries;
}

/**
 * Makes a key and adds its entry to the file, which is made when missing (mode 0600) and
 * keeps its comments. A running gateway takes it in within seconds.
 * @returns the key, which is shown once and stored nowhere, and its entry
 * @throws ConfigError when the file is not a keys file.
 */
export function addApiKey(
  path: string,
  { tenant, scopes, limits }: Omit<ApiKeyEntry, 'id' | 'sha256'>,
): { readonly key: string; readonly entry: ApiKeyEntry } {
  const before = existsSync(path) ? readText(path) : 'keys: []\n';
  parseKeys(before, path);
  const { secret: key, sha256 } = newSecret();
  const id = `key_${randomBytes(6).toString('hex')}`;
  const entry = { id, tenant, scopes, sha256, limits };
  const document = parseDocument(before);
  const list: unknown = document.get('keys');
  if (isSeq(list)) list.flow = false;
  document.addIn(['keys'], document.createNode({ ...entry, scopes: [...scopes] }));
  const text = document.toString();
  parseKeys(text, path);
  const draft = `${path}.new`;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(draft, text, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, path);
  return { key, entry };
}

const readText = (path: string) => readNamedFile(path, 'auth.keys_file').toString();

function readEntries(file: YamlFile, problems: ConfigProblem[]): ApiKeyEntry[] {
  const root = file.document.contents;
  const list: unknown = isMap(root) ? root.get('keys') : undefined;
  if (!isMap(root) || !isSeq(list) || root.items.length !== 1) {
    problems.push({
      origin: file.originOf(root),
      message: 'must hold `keys:` and a list below it, nothing else',
    });
    return [];
  }
  const seen = new Set<string>();
  return list.items.flatMap((node, index) => {
    const place = { node, path: `keys[${index}]` };
    const written = isMap(node) ? (node.toJSON() as Partial<ApiKeyEntry>) : undefined;
    const { data: entry, problems: found } = readFields(KEY, written ?? null);
    if (written?.id !== undefined && seen.has(written.id))
      found.push({ path: ['id'], message: `"${written.id}" is there twice` });
    // Without the values: no message quotes a hash.
    problems.push(...found.map(({ value: _, ...problem }) => placed(file, place, problem)));
    if (!entry || found.length > 0) return [];
    seen.add(entry.id);
    return [{ ...entry, sha256: entry.sha256.toLowerCase() }];
  });
}
