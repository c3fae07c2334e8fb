import { createHash } from 'node:crypto';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { GatewayRig, type RigOptions } from '../api/gateway-rig.js';

export interface RealtimeRigOptions {
  readonly streams?: number;
  readonly model?: Partial<ModelSpec>;
  /** Options of the synthetic engine. */
  readonly engine?: Readonly<Record<string, unknown>>;
  readonly settings?: RigOptions['settings'];
  /** Of a worker whose process is signalled. */
  readonly launch?: RigOptions['launch'];
}

/** A gateway with one real worker of the synthetic engine, hosted, ready. */
export async function realtimeRig(options: RealtimeRigOptions = {}): Promise<GatewayRig> {
  const { streams = 8, settings = {}, model: more, engine, launch = 'hosted' } = options;
  const model = syntheticModel(
    { streams, ...engine },
    { capabilities: ['transcribe', 'stream'], aliases: ['whisper-1'], ...more },
  );
  const rig = await GatewayRig.start({ models: [model], settings, launch });
  await rig.ready('synthetic');
  return rig;
}

/** What the synthetic engine hears in exactly these bytes at 16 kHz. */
export function heardIn(audio: string, ...conditions: readonly string[]): string {
  const hash = createHash('sha256')
    .update(audio)
    .update(JSON.stringify(conditions))
    .digest('hex')
    .slice(0, 8);
  return `synthetic transcript ${hash} ${audio.length} bytes`;
}

/** The only worker's process, told to stop in its tracks, to go on, or to die. */
export function signalWorker(rig: GatewayRig, signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
  const { pid } = rig.pool.workers()[0]!;
  process.kill(pid!, signal);
}

export const streamsInUse = (rig: GatewayRig): number => rig.pool.workers()[0]?.streamsInUse ?? 0;
