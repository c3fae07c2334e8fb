import { chmodSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isMap, isSeq, parseDocument } from 'yaml';
import { readFields } from '../../contracts/schema/field-problems.js';
import {
  listOf,
  matching,
  objectOf,
  oneOf,
  optional,
} from '../../contracts/schema/rules.js';
import {
  ConfigError,
  type ConfigProblem,
  parseYaml,
  placed,
  readNamedFile,
  type YamlFile,
} from '../config/yaml-file.js';
import {
  type ApiKeyEntry,
  createApiKey,
  type KeyOwner,
  LIMITS_RULE,
  type NewApiKey,
} from './api-key.js';
import { KEY_SCOPES } from './principal.js';

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
export function readKeysFile(path: string): ApiKeyEntry[] {
  return parseKeys(readText(path), path);
}

/**
 * @param name of the file, for messages. @throws ConfigError with every problem of it, by
 *   line and column
 */
export function parseKeys(text: string, name: string): ApiKeyEntry[] {
  const file = parseYaml(text, name);
  const problems: ConfigProblem[] = [...file.problems];
  const entries = problems.length > 0 ? [] : readEntries(file, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return entries;
}

/**
 * Makes a key and adds its entry to the file, which is made when missing (mode 0600) and
 * keeps its comments. A running gateway takes it in within seconds.
 * @throws ConfigError when the file is not a keys file.
 */
export function addApiKey(path: string, owner: KeyOwner): NewApiKey {
  const before = existsSync(path) ? readText(path) : 'keys: []\n';
  parseKeys(before, path);
  const made = createApiKey(owner);
  const document = parseDocument(before);
  const list: unknown = document.get('keys');
  if (isSeq(list)) list.flow = false;
  document.addIn(
    ['keys'],
    document.createNode({ ...made.entry, scopes: [...made.entry.scopes] }),
  );
  const text = document.toString();
  parseKeys(text, path);
  const draft = `${path}.new`;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(draft, text, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, path);
  return made;
}

const readText = (path: string): string =>
  readNamedFile(path, 'auth.keys_file').toString();

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
    problems.push(
      ...found.map(({ value: _, ...problem }) => placed(file, place, problem)),
    );
    if (!entry || found.length > 0) return [];
    seen.add(entry.id);
    return [{ ...entry, sha256: entry.sha256.toLowerCase() }];
  });
}
