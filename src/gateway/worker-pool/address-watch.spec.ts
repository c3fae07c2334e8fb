import { afterEach, describe, expect, it } from '@jest/globals';
import { AddressWatch, type RemoteEndpoint } from './address-watch.js';

/**
 * A name server whose records the test changes; the next look at them is awaited,
 * not slept for.
 */
class Records {
  readonly answers = new Map<string, readonly string[] | Error>();
  readonly told: string[][] = [];
  readonly problems: string[] = [];
  #onTold: () => void = () => undefined;
  #watch: AddressWatch | undefined;

  watch(...addresses: string[]): void {
    this.#watch = new AddressWatch({
      addresses,
      refreshMs: 1,
      resolve: host => {
        const answer = this.answers.get(host) ?? [];
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
      onEndpoints: endpoints => this.#tell(endpoints),
      onProblem: host => this.problems.push(host),
    });
    this.#watch.start();
  }

  /** Resolves when so many have been told in a row. */
  async until(condition: (addresses: string[]) => boolean): Promise<void> {
    while (!condition(this.told.at(-1) ?? []))
      await new Promise<void>(resolve => (this.#onTold = resolve));
  }

  stop(): void {
    this.#watch?.stop();
  }

  #tell(endpoints: readonly RemoteEndpoint[]): void {
    this.told.push(endpoints.map(({ address }) => address));
    this.#onTold();
  }
}

describe('AddressWatch', () => {
  const records = new Records();
  afterEach(() => {
    records.stop();
    records.told.length = 0;
    records.problems.length = 0;
  });

  it('tells numeric addresses at once, and once', async () => {
    records.watch('10.0.0.7:9000', '[::1]:9001');
    await new Promise(setImmediate);
    expect(records.told).toEqual([['10.0.0.7:9000', '[::1]:9001']]);
  });

  it('follows the records of a name as they come and go', async () => {
    records.answers.set('gpu', ['10.0.0.1']);
    records.watch('gpu:9000');
    await records.until(([first]) => first === '10.0.0.1:9000');
    records.answers.set('gpu', ['10.0.0.1', 'fd00::2']);
    await records.until(({ length }) => length === 2);
    expect(records.told.at(-1)).toEqual(['10.0.0.1:9000', '[fd00::2]:9000']);
    records.answers.set('gpu', ['fd00::2']);
    await records.until(({ length }) => length === 1);
    expect(records.told.at(-1)).toEqual(['[fd00::2]:9000']);
  });

  it('keeps what it knew while the name server fails or knows nothing', async () => {
    records.answers.set('gpu', ['10.0.0.1']);
    records.watch('gpu:9000');
    await records.until(({ length }) => length === 1);
    records.answers.set('gpu', new Error('ESERVFAIL'));
    await records.until(() => records.problems.length > 0);
    expect(records.told.at(-1)).toEqual(['10.0.0.1:9000']);
  });

  it('counts an address once, however many names stand for it', async () => {
    records.answers.set('a', ['10.0.0.1']).set('b', ['10.0.0.1']);
    records.watch('a:1', 'b:1', '10.0.0.1:1');
    await records.until(({ length }) => length > 0);
    expect(records.told.at(-1)).toEqual(['10.0.0.1:1']);
  });
});
