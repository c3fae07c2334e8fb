import { type SettingValue } from '../../../src/platform/config/setting-definition.js';
import { type SettingPath } from '../../../src/platform/config/settings.js';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import { audioForm } from './audio-forms.js';
import { GatewayRig } from './gateway-rig.js';
import { sttModel } from './models.js';

const PATH = '/v1/audio/transcriptions';

/** Slots of the fixture: it takes groups of 4 and one more ahead (D-24). */
export const SLOTS = 8;

interface Init {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/**
 * A gateway in front of one recogniser that keeps a request for as long as
 * the test wants.
 */
export class HeldRig {
  private constructor(
    readonly worker: FixtureWorker,
    readonly rig: GatewayRig,
  ) {}

  static async start(settings: Partial<Record<SettingPath, SettingValue>> = {}): Promise<HeldRig> {
    const worker = new FixtureWorker({ model: 'stt' });
    const addresses = [`127.0.0.1:${await worker.start()}`];
    const models = [sttModel({ addresses, capabilities: ['transcribe', 'prompt'] })];
    const rig = await GatewayRig.start({ models, settings });
    await rig.ready('stt');
    return new HeldRig(worker, rig);
  }

  /** A request that the worker answers at once. */
  ask(id: string, init: Init = {}): Promise<Response> {
    return this.#post(id, {}, init);
  }

  /** A request that the worker keeps until it is released or cancelled. */
  held(id: string, init: Init = {}): Promise<Response> {
    return this.#post(id, { prompt: script.hold }, init);
  }

  async close(): Promise<void> {
    this.worker.releaseAll();
    await this.rig.close();
    this.worker.stop();
  }

  #post(id: string, fields: Record<string, string>, { headers, ...init }: Init): Promise<Response> {
    return this.rig.post(PATH, audioForm({ fields }), {
      ...init,
      headers: { 'x-request-id': id, ...headers },
    });
  }
}
