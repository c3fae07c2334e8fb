import { readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';

/**
 * What the machine itself did while a bench ran. `stolen` is the share of all CPU time
 * that the hypervisor gave to other guests, `busy` the share that anything here used:
 * time stolen from a mostly idle machine shows up as stalls, whatever the code does.
 */
export function machineLoad() {
  const before = cpuTime();
  return () => {
    const after = cpuTime();
    const total = after.total - before.total;
    const share = (now, then) => (total > 0 ? Math.round(((now - then) / total) * 1000) / 1000 : 0);
    return {
      cpu: cpus()[0]?.model.trim() ?? 'unknown',
      cores: availableParallelism(),
      busy: share(after.busy, before.busy),
      stolen: share(after.stolen, before.stolen),
    };
  };
}

/** Linux only; elsewhere everything reads 0. */
function cpuTime() {
  let line;
  try {
    [line] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
  } catch {
    return { total: 0, busy: 0, stolen: 0 };
  }
  const [user, nice, system, idle, iowait, irq, softirq, stolen] = line
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  const busy = user + nice + system + irq + softirq;
  return { total: busy + idle + iowait + stolen, busy, stolen };
}
