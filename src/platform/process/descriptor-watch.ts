import { open } from 'node:fs/promises';
import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';

const EVERY_MS = 1000;

/**
 * Says when this process has no file descriptor left. Node reports nothing of the connections
 * that the system refuses, or leaves waiting, meanwhile.
 */
@Injectable()
export class DescriptorWatch implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger(DescriptorWatch.name);
  #timer: NodeJS.Timeout | undefined;
  #isOut = false;

  onApplicationBootstrap(): void {
    this.#timer = setInterval(() => void this.look(), EVERY_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.#timer);
  }

  /** Logs the begin and the end of a shortage. Never rejects. */
  async look(): Promise<void> {
    const isOut = await open('/dev/null').then(
      file => file.close().then(() => false),
      ({ code }: NodeJS.ErrnoException) => code === 'EMFILE' || code === 'ENFILE',
    );
    if (isOut === this.#isOut) return;
    this.#isOut = isOut;
    if (isOut)
      this.#logger.error(
        'no free file descriptors: new connections are refused or wait, and no worker can be ' +
          'started; raise the limit (ulimit -n, LimitNOFILE of systemd)',
      );
    else this.#logger.log('there are free file descriptors again');
  }
}
