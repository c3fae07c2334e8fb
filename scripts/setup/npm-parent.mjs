import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 1000;

/**
 * Whoever kills `npm run up` or `npx switchyard up` kills npm alone: this process, a
 * child of it or of the shell it runs commands with, would continue unseen. Under npm it
 * therefore stops, by its own SIGTERM, when they are gone. Started in any other way it
 * may outlive its parent, as with nohup.
 */
export function stopWithNpm() {
  if (!process.env.npm_lifecycle_event) return;
  const before = launchers();
  const timer = setInterval(() => {
    if (launchers() === before) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, LOOK_EVERY_MS);
  timer.unref();
}

/**
 * The parent; where that is the shell between npm and us, its parent too. Orphans get
 * another one at once.
 */
function launchers() {
  const { ppid } = process;
  return commandOf(ppid).includes(' -c ') ? `${ppid} ${parentOf(ppid)}` : String(ppid);
}

function commandOf(pid) {
  return procFile(pid, 'cmdline').replaceAll('\0', ' ');
}

function parentOf(pid) {
  return /^PPid:\s*(\d+)$/m.exec(procFile(pid, 'status'))?.[1];
}

/** Empty where there is no /proc: there the parent alone is watched. */
function procFile(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
