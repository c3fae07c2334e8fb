/** What happens during a pull, for whoever shows it. Sizes in bytes. */
export type PullEvent =
  /** Known before the first byte: all files, and what of them is here already. */
  | {
      readonly type: 'planned';
      readonly files: number;
      readonly bytes: number | undefined;
      readonly presentBytes: number;
      readonly folder: string;
    }
  /** A file begins, or begins again, with `have` bytes of an earlier attempt. */
  | { readonly type: 'started'; readonly path: string; readonly have: number; readonly size: number | undefined }
  | { readonly type: 'received'; readonly path: string; readonly bytes: number }
  | { readonly type: 'waiting'; readonly path: string; readonly ms: number; readonly why: string }
  /** In its place, checked. `already`: it was there. */
  | { readonly type: 'done'; readonly path: string; readonly size: number; readonly already: boolean };

export type PullObserver = (event: PullEvent) => void;
