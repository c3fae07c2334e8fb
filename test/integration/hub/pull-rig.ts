import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { PullContext, PullObserver } from '../../../src/cli/models/hub/file-download.js';
import { HubHttp } from '../../../src/cli/models/hub/hub-http.js';
import { pullModel, type PullRequest } from '../../../src/cli/models/hub/model-pull.js';
import { parseSource } from '../../../src/cli/models/hub/model-source.js';
import { HubServer, type HubServerOptions } from '../../support/hub-server.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

export const MODEL: Readonly<Record<string, Buffer>> = {
  'config.json': Buffer.from('{"d_model":8}'),
  'onnx/encoder.onnx': randomBytes(300_000),
  'onnx/decoder.onnx': randomBytes(200_000),
};

export interface PullSettings extends Partial<Omit<PullRequest, 'source'>>, Partial<PullContext> {
  readonly from?: string;
  readonly token?: string;
}

/**
 * A hub, a folder, and pulls from one into the other. Waits between attempts take no
 * time, and are noted.
 */
export class PullRig implements AsyncDisposable {
  readonly waits: number[] = [];
  readonly events: ({ readonly type: string } & Record<string, unknown>)[] = [];
  /** Whether a stalled answer is cut once something of it has arrived. */
  cutting = true;
  readonly abort = new AbortController();

  private constructor(
    readonly hub: HubServer,
    readonly root: string,
  ) {}

  static async start(options: Partial<HubServerOptions> = {}): Promise<PullRig> {
    const hub = await HubServer.start({ files: MODEL, ...options });
    return new PullRig(hub, temporaryFolder());
  }

  get folder(): string {
    return join(this.root, 'model');
  }

  pull({ from = `hf:${this.hub.repository}`, token, ...settings }: PullSettings = {}) {
    const order = {
      source: parseSource(from),
      folder: this.folder,
      include: [],
      ...settings,
    };
    return pullModel(order, {
      http: new HubHttp(this.hub.url, token),
      signal: this.abort.signal,
      observer: this.#observer(),
      stallMs: 10_000,
      timing: {
        sleep: ms => Promise.resolve(void this.waits.push(ms)),
        random: () => 0,
      },
      ...settings,
    });
  }

  #observer(): PullObserver {
    return {
      planned: (files, bytes, present, folder) =>
        this.events.push({ type: 'planned', files, bytes, present, folder }),
      started: (path, have, size) => this.events.push({ type: 'started', path, have, size }),
      received: (path, bytes) => {
        this.events.push({ type: 'received', path, bytes });
        if (this.cutting) this.hub.cut(path);
      },
      waiting: (path, ms, why) => this.events.push({ type: 'waiting', path, ms, why }),
      done: (path, size, already) => this.events.push({ type: 'done', path, size, already }),
    };
  }

  /** Files below the model's folder, with slashes. */
  async names(): Promise<string[]> {
    const entries = await readdir(this.folder, { recursive: true, withFileTypes: true });
    const files = entries.filter(entry => entry.isFile());
    return files
      .map(({ parentPath, name }) => join(parentPath, name).slice(this.folder.length + 1))
      .sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.hub[Symbol.asyncDispose]();
  }
}
