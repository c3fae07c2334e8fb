import { createHash } from 'node:crypto';
import { type SettingValue } from '../../../src/platform/config/setting-definition.js';
import { type SettingPath } from '../../../src/platform/config/settings.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { GatewayRig, sourceLaunch } from '../api/gateway-rig.js';

export interface RealtimeRigOptions {
  readonly streams?: number;
  readonly settings?: Partial<Record<SettingPath, SettingValue>>;
}

/** A gateway with one real worker process of the synthetic engine, ready. */
export async function realtimeRig({ streams = 8, settings = {} }: RealtimeRigOptions = {}): Promise<GatewayRig> {
  const model = syntheticModel({ streams }, { capabilities: ['transcribe', 'stream'], aliases: ['whisper-1'] });
  const rig = await GatewayRig.start({ models: [model], settings, launch: sourceLaunch });
  await rig.ready('synthetic');
  return rig;
}

/** What the synthetic engine hears in exactly these bytes at 16 kHz. */
export function heardIn(audio: string): string {
  const hash = createHash('sha256').update(audio).update('[]').digest('hex').slice(0, 8);
  return `synthetic transcript ${hash} ${audio.length} bytes`;
}
