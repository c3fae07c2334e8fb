import { symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, it } from '@jest/globals';
import { freePort } from '../support/free-port.js';
import { describeWith } from '../support/requires.js';
import { commandsOf, TUTORIAL_TOOLS, TutorialShell } from '../support/tutorial.js';

const suite = describeWith(...TUTORIAL_TOOLS);

suite('the tutorial of three GPU nodes, typed as it is written', () => {
  it('serves while a node dies', async () => {
    const shell = await TutorialShell.open(await freePort());
    for (const name of ['dist', 'config']) await symlink(resolve(name), join(shell.folder, name));
    let page = commandsOf(await shell.page('docs/tutorials/three-gpu-nodes.md'));
    for (const node of [1, 2, 3]) {
      const port = String(await freePort());
      page = page
        .replaceAll(`127.0.0.1:900${node}`, `127.0.0.1:${port}`)
        .replace('127.0.0.1:900$n', '127.0.0.1:$port');
      page = page.replace(
        'for n in 1 2 3; do\n',
        `for n in 1 2 3; do\n  [ $n = ${node} ] && port=${port}\n`,
      );
    }
    const stop = "trap 'kill $(cat *.pid) 2>/dev/null || true' EXIT\n";
    const printed = await shell.type(stop + page);
    expect(printed).toMatch(/ready/);
    expect(printed.match(/\tready/g)).toHaveLength(2);
  }, 180_000);
});
