import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isMap, isSeq, parseDocument, type YAMLMap } from 'yaml';
import { ConfigError, type ConfigProblem } from '../config/config-problem.js';
import { parseYaml, type YamlFile } from '../config/yaml-file.js';
import { type ApiKeyEntry, createApiKey, type KeyOwner, type NewApiKey } from './api-key.js';
import { isKeyLimits, KEY_LIMITS } from './key-limits.js';
import { KEY_SCOPES } from './principal.js';

const NAME = /^[A-Za-z0-9._-]{1,64}$/;

/** Field → what it must be, and the test of it. */
const FIELDS: Readonly<Record<keyof ApiKeyEntry, readonly [allowed: string, accepts: (value: unknown) => boolean]>> = {
  id: ['1 to 64 letters, digits and . _ -', value => typeof value === 'string' && NAME.test(value)],
  tenant: ['1 to 64 letters, digits and . _ -', value => typeof value === 'string' && NAME.test(value)],
  scopes: [`a list out of ${KEY_SCOPES.join(', ')}`, isScopeList],
  limits: [
    `pairs out of ${KEY_LIMITS.join(', ')} and whole numbers`,
    value => value === undefined || isKeyLimits(value),
  ],
  sha256: ['64 hexadecimal digits', value => typeof value === 'string' && /^[0-9a-f]{64}$/i.test(value)],
};

/** @throws ConfigError naming everything wrong with its line; never quoting a hash. */
export function readKeysFile(path: string): ApiKeyEntry[] {
  return parseKeys(readText(path), path);
}

/** @param name of the file, for messages. @throws ConfigError with every problem of it, by line and column */
export function parseKeys(text: string, name: string): ApiKeyEntry[] {
  const file = parseYaml(text, name);
  const problems: ConfigProblem[] = [...file.problems];
  const entries = problems.length > 0 ? [] : readEntries(file, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return entries;
}

/**
 * Makes a key and adds its entry to the file, which is made when missing (mode 0600) and keeps its comments. A running
 * gateway takes it in within seconds.
 * @throws ConfigError when the file is not a keys file.
 */
export function addApiKey(path: string, owner: KeyOwner): NewApiKey {
  const before = readText(path, 'keys: []\n');
  parseKeys(before, path);
  const made = createApiKey(owner);
  const document = parseDocument(before);
  const list: unknown = document.get('keys');
  if (isSeq(list)) list.flow = false;
  document.addIn(['keys'], document.createNode({ ...made.entry, scopes: [...made.entry.scopes] }));
  const text = document.toString();
  parseKeys(text, path);
  const draft = `${path}.new`;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(draft, text, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, path);
  return made;
}

function readText(path: string, absent?: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && absent !== undefined) return absent;
    const message = `cannot be read (${code}); \`auth.keys_file\` names it`;
    throw new ConfigError([{ origin: path, message }]);
  }
}

function readEntries(file: YamlFile, problems: ConfigProblem[]): ApiKeyEntry[] {
  const root = file.document.contents;
  const list: unknown = isMap(root) ? root.get('keys') : undefined;
  if (!isMap(root) || !isSeq(list) || root.items.length !== 1) {
    problems.push({ origin: file.originOf(root), message: 'must hold `keys:` and a list below it, nothing else' });
    return [];
  }
  const seen = new Set<string>();
  return list.items.flatMap((node, index) => {
    const path = `keys[${index}]`;
    const found = isMap(node) ? entryProblems(file, node, path) : [problem(file, node, path, 'must be one key')];
    problems.push(...found);
    if (found.length > 0) return [];
    const entry = (node as YAMLMap).toJSON() as ApiKeyEntry;
    if (seen.has(entry.id)) problems.push(problem(file, node, `${path}.id`, `"${entry.id}" is there twice`));
    seen.add(entry.id);
    return [{ ...entry, sha256: entry.sha256.toLowerCase() }];
  });
}

function entryProblems(file: YamlFile, node: YAMLMap, path: string): ConfigProblem[] {
  const raw = node.toJSON() as Record<string, unknown>;
  const unknown = node.items
    .filter(({ key }) => !(String(key) in FIELDS))
    .map(({ key }) => problem(file, key, `${path}.${String(key)}`, `no such field; ${Object.keys(FIELDS).join(', ')}`));
  const wrong = Object.entries(FIELDS)
    .filter(([name, [, accepts]]) => !accepts(raw[name]))
    .map(([name, [allowed]]) => problem(file, node.get(name, true) ?? node, `${path}.${name}`, `must be ${allowed}`));
  return [...unknown, ...wrong];
}

const problem = (file: YamlFile, node: unknown, path: string, message: string): ConfigProblem => ({
  origin: file.originOf(node),
  path,
  message,
});

function isScopeList(value: unknown): boolean {
  const known: readonly unknown[] = KEY_SCOPES;
  return Array.isArray(value) && value.length > 0 && value.every(scope => known.includes(scope));
}
