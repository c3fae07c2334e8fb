import { type NodeProcess } from '../../support/node-process.js';
import { type LoadJob, type LoadReport } from './load-job.js';
import { type LoadProcess } from './load-process.js';
import { processCpuMs } from './process-cpu.js';

/** A process that takes requests. */
export interface LoadedServer {
  readonly port: number;
  readonly process: NodeProcess;
}

export interface MeasuredLoad {
  readonly report: LoadReport;
  /** CPU time of the server per request, milliseconds. */
  readonly cpuMs: number;
}

/** Runs the load, and measures what it costs the server. */
export async function measuredLoad(
  load: LoadProcess,
  job: Omit<LoadJob, 'port'>,
  { port, process }: LoadedServer,
): Promise<MeasuredLoad> {
  const beforeMs = processCpuMs(process.child.pid);
  const report = await load.run({ ...job, port });
  // The CPU counter spans the warm-up as well, so its requests are counted in.
  const requests = (report.requestsPerS * (job.warmupMs + job.durationMs)) / 1000;
  return { report, cpuMs: (processCpuMs(process.child.pid) - beforeMs) / requests };
}
