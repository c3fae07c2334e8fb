import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { LOCAL_TOKEN_VARIABLE } from '@switchyard/worker-protocol/local-token.js';
import { type Command } from 'commander';
import { parse } from 'yaml';
import { COMMAND_LINE } from '../../scripts/docs/command-tree.js';
import { ENDPOINTS } from '../../src/contracts/endpoints.js';
import { GATEWAY_VARIABLES } from '../../src/platform/config/process-environment.js';
import { environmentName, SETTING_PATHS } from '../../src/platform/config/settings.js';
import { environmentNames } from '../support/packaging.js';

const MANUAL = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...markdownIn('docs')];
const AREAS = ['packages', 'src', 'docker', 'test', 'workers']
  .flatMap(markdownIn)
  .filter(file => file.endsWith('README.md'));
const ALERTS = 'docker/helm/switchyard/files/alerts.yaml';

function markdownIn(folder: string): string[] {
  return filesIn(folder).filter(path => path.endsWith('.md'));
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return [path];
    return ['node_modules', 'dist'].includes(entry.name) || entry.name.startsWith('.')
      ? []
      : filesIn(path);
  });
}

const read = (path: string): string => readFileSync(path, 'utf8');

/** Without fenced blocks; inline code stays. */
const proseOf = (text: string): string => text.replace(/^( *)```[^\n]*\n[\s\S]*?\n *```$/gm, '');
const withoutCode = (text: string): string => proseOf(text).replace(/`[^`\n]*`/g, '');
const shellOf = (text: string): string[] =>
  [...text.matchAll(/^ *```(?:bash|console|sh)\n([\s\S]*?)\n *```$/gm)].map(
    ([, block = '']) => block,
  );

/** Anchors as GitHub makes them: lower case, punctuation dropped, blanks as hyphens. */
function anchorsOf(path: string): Set<string> {
  const headings = [...proseOf(read(path)).matchAll(/^#{1,6} +(.+)$/gm)].map(
    ([, title = '']) => title,
  );
  return new Set(
    headings.map(title =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

function brokenLinks(file: string): string[] {
  const targets = [...withoutCode(read(file)).matchAll(/\]\(([^()\s]+)\)/g)].map(
    ([, target = '']) => target,
  );
  return targets.filter(
    target => !/^(https?|mailto):/.test(target) && !leadsSomewhere(file, target),
  );
}

function leadsSomewhere(file: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const found = path === '' ? file : join(dirname(file), path);
  if (!existsSync(found)) return false;
  return anchor === undefined || (statSync(found).isFile() && anchorsOf(found).has(anchor));
}

/** `transcribe`, `batch submit`, …, and what stands above them. */
function commandNames(command: Command, above = ''): string[] {
  return command.commands.flatMap(each => {
    const name = `${above}${each.name()}`;
    return [name, ...commandNames(each, `${name} `)];
  });
}

describe('links', () => {
  it.each([...MANUAL, ...AREAS])('of %s lead to files and headings that exist', file => {
    expect(brokenLinks(file)).toEqual([]);
  });

  it('reach every page of the manual from the README, over other pages', () => {
    const reached = new Set<string>();
    const visit = (file: string): void => {
      if (reached.has(file) || !MANUAL.includes(file)) return;
      reached.add(file);
      for (const [, target = ''] of withoutCode(read(file)).matchAll(/\]\(([^()\s#]+)/g))
        visit(join(dirname(file), target));
    };
    visit('README.md');
    expect(MANUAL.filter(file => !reached.has(file))).toEqual([]);
  });
});

describe('commands', () => {
  const { scripts } = JSON.parse(read('package.json')) as {
    scripts: Record<string, string>;
  };
  const commands = commandNames(COMMAND_LINE);
  const codeOf = (file: string): string =>
    [read(file)].flatMap(text => [...inlineCode(text), ...shellOf(text)]).join('\n');

  it.each(MANUAL)('of npm that %s names are scripts of package.json', file => {
    const named = [...codeOf(file).matchAll(/npm run (?:-s )?([\w:-]+)/g)].map(
      ([, name = '']) => name,
    );
    expect(named.filter(name => !(name in scripts))).toEqual([]);
  });

  it.each(MANUAL)('of switchyard that %s names exist', file => {
    const named = [
      ...codeOf(file).matchAll(
        /^(?:.*(?:[|$] |npx |cli\/))?switchyard(?:\.js)? ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/gm,
      ),
    ];
    const unknown = named.filter(([, group = '', name = '']) => {
      if (!commands.includes(group)) return true;
      return (
        commands.some(each => each.startsWith(`${group} `)) &&
        !commands.includes(`${group} ${name}`)
      );
    });
    expect(unknown.map(([text]) => text)).toEqual([]);
  });
});

describe('examples', () => {
  const blocks = (file: string, language: RegExp): string[] =>
    [...read(file).matchAll(/^( *)```(\w+)\n([\s\S]*?)\n *```$/gm)]
      .filter(([, , name = '']) => language.test(name))
      .map(([, indent = '', , code = '']) => code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));

  it.each([...MANUAL, ...AREAS])('for a shell in %s can be parsed', file => {
    for (const input of blocks(file, /^(bash|sh)$/))
      expect(`${input}\n${spawnSync('bash', ['-n'], { input, encoding: 'utf8' }).stderr}`).toBe(
        `${input}\n`,
      );
  });

  it.each([...MANUAL, ...AREAS])('in YAML of %s can be parsed', file => {
    for (const code of blocks(file, /^yaml$/)) expect(() => parse(code) as unknown).not.toThrow();
  });
});

describe('the command in shell examples', () => {
  it.each(MANUAL.filter(file => file !== 'docs/reference/cli.md'))(
    'is spelled npx switchyard in %s',
    file => {
      const lines = shellOf(read(file)).flatMap(block => block.split('\n'));
      expect(lines.filter(line => /^ *(\$ )?switchyard /.test(line))).toEqual([]);
    },
  );
});

const inlineCode = (text: string): string[] =>
  [...proseOf(text).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);

describe('names', () => {
  const sections = new Set(SETTING_PATHS.map(path => path.split('.')[0]));
  const variables = SETTING_PATHS.map(environmentName);

  it.each(MANUAL)('of settings in %s exist', file => {
    const named = inlineCode(read(file)).flatMap(
      code => /^([a-z]+)\.[a-z0-9_]+$/.exec(code)?.slice(0, 2) ?? [],
    );
    const paths = named.filter((name, at) => at % 2 === 0 && sections.has(named[at + 1] ?? ''));
    expect(paths.filter(path => !(SETTING_PATHS as readonly string[]).includes(path))).toEqual([]);
  });

  it.each(MANUAL)('of environment variables in %s exist', file => {
    const known = [
      ...variables,
      ...Object.values(GATEWAY_VARIABLES),
      'SWITCHYARD_CONFIG',
      'SWITCHYARD_HOME',
      'SWITCHYARD_WORKER_SPEC',
      LOCAL_TOKEN_VARIABLE,
    ];
    expect(environmentNames(read(file)).filter(name => !known.includes(name))).toEqual([]);
  });

  it.each(MANUAL)('of routes in %s exist', file => {
    const named = inlineCode(read(file)).filter(code =>
      /^(GET|POST|PATCH|DELETE) \/[\w/{}.-]+$/.test(code),
    );
    const known = new Set(
      ENDPOINTS.map(({ method, path }) => `${method} ${path}`.replace(/\{\w+\}/g, '{}')),
    );
    expect(named.filter(name => !known.has(name.replace(/\{\w+\}/g, '{}')))).toEqual([]);
  });
});

describe('files', () => {
  const known = [
    'packages',
    'src',
    'test',
    'scripts',
    'proto',
    'config',
    'docker',
    'workers',
    'docs',
  ].flatMap(filesIn);
  const ROOTED = /^(?:packages|src|test|scripts|proto|config|docker|docs|workers)\/[\w./-]+$/;
  const SOURCE = /^[\w./-]+\.(?:ts|mjs|cjs|py|proto)$/;
  /** `NAME.thread.ts` stands for many. */
  const PLACEHOLDER = /NAME|\.\.\.|…/;

  it.each([...MANUAL, ...AREAS].filter(file => !file.startsWith('docs/tutorials/')))(
    'that %s names exist',
    file => {
      const named = inlineCode(read(file)).filter(
        code => (ROOTED.test(code) || SOURCE.test(code)) && !PLACEHOLDER.test(code),
      );
      const missing = named.filter(
        name => ![name, `${name}.ts`, join(dirname(file), name)].some(path => existsSync(path)),
      );
      expect(missing.filter(name => !endsSomeFile(name))).toEqual([]);
    },
  );

  const endsSomeFile = (name: string): boolean =>
    known.some(path => path.endsWith(`/${name.replace(/^(?:\.\.?\/)+/, '')}`));
});

describe('the manual', () => {
  it('has a front page of at most 450 words', () => {
    expect(read('README.md').split(/\s+/).length).toBeLessThanOrEqual(450);
  });

  it.each([...MANUAL, ...AREAS])('%s has no line of prose above 120 columns', file => {
    const long = proseOf(read(file))
      .split('\n')
      .filter(line => line.length > 120 && !/^ *\||^!?\[|^ *<!--/.test(line));
    expect(long).toEqual([]);
  });
});

describe('the glossary of the code', () => {
  const page = 'docs/explain/glossary-of-the-code.md';
  const rows = read(page)
    .split('\n')
    .filter(line => /^\| (?!term)/.test(line))
    .map(line => line.split('|').map(cell => cell.trim()));

  it('has thirty terms and more, each once', () => {
    const terms = rows.map(([, term = '']) => term);
    expect(terms.length).toBeGreaterThanOrEqual(30);
    expect(terms).toEqual([...new Set(terms)]);
  });

  it.each(rows.map(([, term = '', text = '', file = '']) => [term, text, file] as const))(
    '%s stands in the file that the row names',
    (term, text, file) => {
      const code = read(join(dirname(page), /\(([^)]+)\)/.exec(file)?.[1] ?? ''));
      const name = /^[^[]*`([A-Z]\w+)`/.exec(text)?.[1] ?? term;
      expect(code.toLowerCase()).toContain(name.toLowerCase());
    },
  );
});

describe('the word list of the spell check', () => {
  it('is sorted and names no word twice', () => {
    const words = read('config/words.txt').trimEnd().split('\n');
    expect(words).toEqual([...new Set(words)].sort());
  });
});

describe('alerts', () => {
  interface Rules {
    readonly groups: {
      readonly rules: {
        readonly alert: string;
        readonly annotations: Record<string, string>;
      }[];
    }[];
  }
  const rules = (parse(read(ALERTS)) as Rules).groups.flatMap(group => group.rules);
  const runbook = 'docs/operate/runbook.md';

  it('each have a section in the runbook, and link it', () => {
    const links = rules.map(({ annotations }) => annotations.runbook_url);
    expect(links).toEqual(rules.map(({ alert }) => `${runbook}#${alert.toLowerCase()}`));
    expect(rules.filter(({ alert }) => !anchorsOf(runbook).has(alert.toLowerCase()))).toEqual([]);
  });

  it('are the only sections of the runbook that carry the name of one', () => {
    const sections = [...anchorsOf(runbook)].filter(anchor => anchor.startsWith('switchyard'));
    expect(sections.sort()).toEqual(rules.map(({ alert }) => alert.toLowerCase()).sort());
  });
});
