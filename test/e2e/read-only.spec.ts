import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from '@jest/globals';
import { formOf } from '../support/form-of.js';
import { freePort } from '../support/free-port.js';
import { leftover } from '../support/leftovers.js';
import { describeWith } from '../support/requires.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { pause } from '../support/waiting.js';

/**
 * Everything read-only but /app/data and /tmp, as docker/compose.cluster.yaml and the
 * chart run it; uid 1000, no capabilities.
 */
const NAMESPACE = `
set -e
mount --bind "$DATA" "$DATA"
mount -t tmpfs tmpfs "$SCRATCH"
mount -o remount,bind,ro /
for point in $(awk '{print $2}' /proc/self/mounts); do
  case "$point" in
    "$DATA"|"$SCRATCH"|/proc*|/dev*|/sys*) ;;
    *) mount -o remount,bind,ro "$point" 2>/dev/null || true ;;
  esac
done
chown 1000:1000 "$DATA"
chmod 1777 "$SCRATCH"
if setpriv --reuid 1000 --regid 1000 --clear-groups touch "$ROOT/written" 2>/dev/null; then exit 66; fi
exec setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps=-all --bounding-set=-all \
"$NODE" "$ROOT/dist/main.gateway.js"
`;

function mayMount(): boolean {
  try {
    execFileSync(
      'unshare',
      ['--mount', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt && setpriv --version'],
      {
        stdio: 'ignore',
      },
    );
    return true;
  } catch {
    return false;
  }
}

describeWith({ name: 'permission to mount', present: mayMount(), ofMachine: true })(
  'the built product on a read-only root, as uid 1000',
  () => {
    let child: ChildProcess | undefined;
    let folder: string | undefined;
    const end = async (): Promise<void> => {
      if (child?.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        await exited;
      }
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    };
    afterEach(end);

    it('serves uploads that are spooled, files and a batch; only data and /tmp are written', async () => {
      leftover(end);
      folder = mkdtempSync(join(tmpdir(), 'read-only-'));
      const [root, data, scratch] = ['app', 'data', 'scratch'].map(name => join(folder!, name)) as [
        string,
        string,
        string,
      ];
      for (const path of [root, data, scratch]) mkdirSync(path);
      execFileSync('chmod', ['755', folder]);
      // As the image: what was built and its configuration; root's, readable by all.
      for (const path of ['dist', 'console/dist'])
        cpSync(path, join(root, path), { recursive: true });
      cpSync('package.json', join(root, 'package.json'));
      writeFileSync(join(root, 'models.yaml'), JSON.stringify({ models: [syntheticModel({})] }));
      const port = await freePort();
      let output = '';
      child = spawn('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', NAMESPACE], {
        cwd: root,
        env: {
          ...{
            PATH: process.env.PATH,
            NODE: process.execPath,
            ROOT: root,
            DATA: data,
            SCRATCH: scratch,
            TMPDIR: scratch,
          },
          ...{
            SWITCHYARD_SERVER_PORT: String(port),
            SWITCHYARD_DATA_DIR: data,
            SWITCHYARD_LOGGING_PRETTY: 'false',
          },
          ...{
            SWITCHYARD_WORKERS_MODELS_FILE: join(root, 'models.yaml'),
            SWITCHYARD_SPOOL_MEMORY_BYTES: '0',
          },
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', chunk => (output += String(chunk)));
      const url = `http://127.0.0.1:${port}`;
      const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
        for (
          const endMs = performance.now() + 60_000;
          performance.now() < endMs;
          await pause(100)
        ) {
          if (child!.exitCode !== null) break;
          if (await holds().catch(() => false)) return;
        }
        throw new Error(`${what}: exit ${child!.exitCode}\n${output}`);
      };
      await until('ready', async () => (await fetch(`${url}/health/ready`)).ok);

      const form = formOf({ model: 'synthetic' }, 'spooled to disk', 'clip.wav');
      const heard = await fetch(`${url}/v1/audio/transcriptions`, {
        method: 'POST',
        body: form,
      });
      expect(await heard.json()).toMatchObject({
        text: expect.stringContaining('15 bytes'),
      });

      const line = {
        custom_id: 'a',
        method: 'POST',
        url: '/v1/audio/transcriptions',
        body: { model: 'synthetic' },
      };
      const audio = await upload(url, 'user_data', 'said in a file');
      const input = await upload(
        url,
        'batch',
        JSON.stringify({ ...line, body: { ...line.body, file_id: audio } }),
      );
      const created = await post(url, '/v1/batches', {
        completion_window: '24h',
        endpoint: line.url,
        input_file_id: input,
      });
      let batch = created;
      await until('the batch is completed', async () => {
        batch = (await (await fetch(`${url}/v1/batches/${created.id}`)).json()) as Batch;
        return batch.status === 'completed';
      });
      expect(batch.request_counts).toEqual({ total: 1, completed: 1, failed: 0 });
    }, 180_000);
  },
);

interface Batch {
  readonly id: string;
  readonly status: string;
  readonly request_counts?: object;
}

async function upload(url: string, purpose: string, text: string): Promise<string> {
  const form = new FormData();
  form.set('purpose', purpose);
  form.set('file', new Blob([text]), purpose === 'batch' ? 'in.jsonl' : 'clip.wav');
  const answer = await fetch(`${url}/v1/files`, { method: 'POST', body: form });
  return ((await answer.json()) as { id: string }).id;
}

async function post(url: string, path: string, body: object): Promise<Batch> {
  const headers = { 'content-type': 'application/json' };
  return (await (
    await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  ).json()) as Batch;
}
