import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type ModelSpec } from '../platform/config/model-spec.js';
import { programFolders } from '../platform/config/process-environment.js';
import { type Settings } from '../platform/config/settings.js';
import { KEY_TEXTS, type Status } from './operate/status.js';
import { type GatewayAnswer } from './shared/gateway-client.js';
import { type Diagnosis, failing, passing } from './shared/diagnosis.js';

const ASK_LIMIT_MS = 2000;

/** Workers in other languages: the program of each `command`. */
export async function checkCommands(
  models: readonly ModelSpec[],
): Promise<readonly Diagnosis[]> {
  const local = models.filter(({ command, replicas }) => command && replicas !== 0);
  return Promise.all(
    local.map(async ({ id, command: [program = ''] = [] }) => {
      const found = await programFile(program);
      if (found !== undefined) return passing('command', `${id}: ${found}`);
      const fix = `install it, or change \`command\` of ${id}`;
      return failing('command', `${id}: there is no program ${program}`, fix);
    }),
  );
}

async function programFile(program: string): Promise<string | undefined> {
  const folders = program.includes('/') ? [''] : programFolders();
  for (const folder of folders) {
    const file = folder === '' ? resolve(program) : join(folder, program);
    if (await isProgram(file)) return file;
  }
  return undefined;
}

const isProgram = (file: string): Promise<boolean> =>
  Promise.all([access(file, constants.X_OK), stat(file)]).then(
    ([, found]) => found.isFile(),
    () => false,
  );

type WorkerList = GatewayAnswer<'/admin/v1/workers'>;

/**
 * What a gateway that runs here says of its keys and its workers; nothing of workers
 * where it asks for a key.
 */
export async function checkGateway(
  server: Settings['server'],
): Promise<readonly Diagnosis[]> {
  try {
    const status = await asked(server, 'status');
    if (status.status === 401) return [passing('keys', 'required')];
    const { gateway } = (await status.json()) as Status;
    const { data } = (await (await asked(server, 'workers')).json()) as WorkerList;
    const state = gateway.keys === 'ignored' ? 'warn' : 'ok';
    return [
      { what: 'keys', state, detail: KEY_TEXTS[gateway.keys] },
      ...data.flatMap(({ id, problem }) =>
        problem === undefined
          ? []
          : [{ what: 'worker', state: 'fail' as const, detail: `${id}: ${problem}` }],
      ),
    ];
  } catch {
    return [];
  }
}

const asked = ({ host, port }: Settings['server'], what: string): Promise<Response> =>
  fetch(`http://${host}:${port}/admin/v1/${what}`, {
    signal: AbortSignal.timeout(ASK_LIMIT_MS),
  });
