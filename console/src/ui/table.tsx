import type { ComponentChildren } from 'preact';

/** The first column names the row. */
export type Column<T> = readonly [
  name: string,
  cell: (row: T) => ComponentChildren,
  kind?: 'number',
];

/** The second line of a cell. */
export const below = (text: string | null | undefined) =>
  text && <span class="muted sub">{text}</span>;

interface TableProps<T> {
  readonly label: string;
  readonly of: readonly T[];
  readonly columns: readonly Column<T>[];
}

/** A table that fills its card and scrolls sideways in it. */
export const Table = <T,>({ label, of: rows, columns }: TableProps<T>) => (
  <div class="table-box" tabIndex={0} role="region" aria-label={label}>
    <table>
      <thead>
        <tr>
          {columns.map(([name, , kind]) => (
            <th scope="col" key={name} class={kind}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={at}>
            {columns.map(([name, cell, kind], column) =>
              column === 0 ? (
                <th scope="row" key={name}>
                  {cell(row)}
                </th>
              ) : (
                <td key={name} class={kind}>
                  {cell(row)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
