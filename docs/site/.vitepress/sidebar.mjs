import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const DOCS = fileURLToPath(new URL('../../', import.meta.url));

/** Parts in the order of reading, and the pages that come first in each. The other pages follow by title. */
const PARTS = [
  ['start', 'Start', ['install', 'quickstart-cpu', 'quickstart-gpu', 'docker', 'first-app']],
  ['tutorials', 'Tutorials', []],
  [
    'guides',
    'Guides',
    ['choose-an-engine', 'add-a-model', 'priorities-and-fairness', 'tenants-and-keys', 'limits'],
  ],
  [
    'operate',
    'Operate',
    ['going-to-production', 'security', 'observability', 'runbook', 'why-slow'],
  ],
  [
    'reference',
    'Reference',
    ['http-api', 'compatibility', 'settings', 'models', 'models-yaml', 'errors', 'cli'],
  ],
  ['explain', 'Explain', ['architecture', 'read-the-code', 'scheduling', 'failure-model']],
  ['help', 'Help', []],
];

export function sidebar() {
  const parts = PARTS.map(([folder, text, first], at) => ({
    text,
    collapsed: at > 2,
    items: pages(folder, first),
  }));
  return [...parts, { text: 'Decisions', link: '/decisions' }];
}

function pages(folder, first) {
  const names = readdirSync(DOCS + folder).flatMap(name => /^(.+)\.md$/.exec(name)?.slice(1) ?? []);
  const items = names.map(name => ({
    name,
    text: titleOf(`${folder}/${name}.md`),
    link: `/${folder}/${name}`,
  }));
  const rank = ({ name }) => (first.includes(name) ? first.indexOf(name) : first.length);
  return items
    .sort((a, b) => rank(a) - rank(b) || a.text.localeCompare(b.text))
    .map(({ text, link }) => ({ text, link }));
}

/** The heading of a page, without "Tutorial:", which its part says. */
function titleOf(path) {
  const heading = /^# (.+)$/m.exec(readFileSync(DOCS + path, 'utf8'))?.[1] ?? path;
  const title = heading.replace(/^Tutorial: /, '');
  return title[0].toUpperCase() + title.slice(1);
}
