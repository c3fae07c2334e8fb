import { GatewayProcess, type SettingOverrides } from '../../support/gateway-process.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { benchModel, type SyntheticCost } from './bench-model.js';
import { BenchWorker } from './bench-worker.js';

export interface BenchRigOptions {
  readonly cost: SyntheticCost;
  readonly settings?: SettingOverrides;
  /**
   * Uploads the worker prepares at the same time; default 4, as `workers.prep_parallel`.
   */
  readonly prepParallel?: number;
  /** The worker's, for uploads in pieces; default 25 MiB. */
  readonly uploadLimitBytes?: number;
}

/**
 * One gateway and one synthetic worker, real processes both; disposing stops them and
 * removes their folder.
 */
export class BenchRig implements AsyncDisposable {
  private constructor(
    readonly folder: string,
    readonly worker: BenchWorker,
    readonly gateway: GatewayProcess,
  ) {}

  static async start({ cost, settings = {}, ...limits }: BenchRigOptions): Promise<BenchRig> {
    const folder = temporaryFolder();
    const model = benchModel(cost);
    const worker = await BenchWorker.start(model, folder, limits);
    try {
      const served = { ...model, replicas: 0, addresses: [worker.address] };
      return new BenchRig(
        folder,
        worker,
        await GatewayProcess.start([served], settings, { folder }),
      );
    } catch (error) {
      await worker[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway[Symbol.asyncDispose]();
    await this.worker[Symbol.asyncDispose]();
  }
}
