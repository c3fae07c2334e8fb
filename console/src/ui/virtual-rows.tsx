import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef } from 'preact/hooks';

interface Options {
  readonly label: string;
  readonly total: number;
  readonly rowHeight: number;
  readonly head: ComponentChildren;
  readonly columns: number;
  readonly row: (index: number) => ComponentChildren;
  /** Which rows are to be seen; called when that changes. */
  readonly onRange?: (first: number, last: number) => void;
}

/** A table of any length: only the rows that can be seen exist. */
export function VirtualRows({ label, total, rowHeight, head, columns, row, onRange }: Options) {
  const box = useRef<HTMLDivElement>(null);
  const [, redraw] = useReducer((n: number, _: void) => n + 1, 0);
  const virtual = useRef<Virtualizer<HTMLDivElement, Element>>(undefined);
  const options = {
    count: total,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 4,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => redraw(),
  };
  virtual.current ??= new Virtualizer(options);
  virtual.current.setOptions(options);
  useEffect(() => virtual.current?._didMount(), []);
  useLayoutEffect(() => virtual.current?._willUpdate());
  const items = virtual.current.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  useEffect(() => onRange?.(first, last), [first, last]);
  return (
    <div
      class="rows"
      role="table"
      aria-label={label}
      aria-rowcount={total + 1}
      aria-colcount={columns}
    >
      <div class="row head" role="row" aria-rowindex={1}>
        {head}
      </div>
      <div class="rows-scroll" role="rowgroup" tabIndex={0} aria-label={label} ref={box}>
        <div
          class="rows-space"
          role="presentation"
          style={{ height: `${virtual.current.getTotalSize()}px` }}
        >
          {items.map(({ index, start }) => (
            <div
              key={index}
              class="row"
              role="row"
              aria-rowindex={index + 2}
              style={{ transform: `translateY(${start}px)` }}
            >
              {row(index)}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
