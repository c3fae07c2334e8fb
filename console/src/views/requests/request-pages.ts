import type { Answer } from '../../api/client';

type List = Answer<'/admin/v1/requests'>;
export type Row = List['data'][number];

export const PAGE = 200;
/** Pages that were looked at and are kept while others are. */
const MOST = 12;

/** A list of any length of which only what is looked at is fetched. */
export class RequestPages {
  readonly #pages = new Map<number, readonly Row[]>();
  total: number | undefined;

  pageOf(index: number): number {
    return Math.floor(index / PAGE);
  }

  row(index: number): Row | undefined {
    return this.#pages.get(this.pageOf(index))?.[index % PAGE];
  }

  /** Fetches again what is to be seen. @param seen pages */
  async load(seen: readonly number[], ask: (offset: number) => Promise<List>): Promise<number> {
    const wanted = [...new Set(seen)];
    await Promise.all(
      wanted.map(async page => {
        const { total, data } = await ask(page * PAGE);
        this.total = total;
        this.#pages.delete(page);
        this.#pages.set(page, data);
      }),
    );
    for (const page of [...this.#pages.keys()].slice(0, -MOST)) this.#pages.delete(page);
    return this.total ?? 0;
  }
}
