/** A table that scrolls horizontally and can be copied as Markdown. */
import type { Tokens } from "marked";
import type { ReactElement } from "react";
import { CopyTextButton } from "./CopyTextButton";
import { Inline } from "./inline";
import { useScrollRegion } from "./useScrollRegion";
import { useMarkdownContext } from "./labels";

export function Table({ table }: { readonly table: Tokens.Table }): ReactElement {
  const { labels } = useMarkdownContext();
  const [ref, region] = useScrollRegion(labels.table);
  return (
    <div className="md-table">
      <div className="md-table-scroll" ref={ref} {...region}>
        <table>
          <thead>
            <tr>
              {table.header.map((cell, index) => (
                <Cell key={index} cell={cell} />
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row, index) => (
              <tr key={index}>
                {row.map((cell, column) => (
                  <Cell key={column} cell={cell} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="md-bar">
        <CopyTextButton name={labels.copyTable} text={() => table.raw.trim()} />
      </div>
    </div>
  );
}

function Cell({ cell }: { readonly cell: Tokens.TableCell }): ReactElement {
  const text = <Inline tokens={cell.tokens} />;
  const side = cell.align === null ? undefined : `md-${cell.align}`;
  return cell.header ? (
    <th scope="col" className={side}>
      {text}
    </th>
  ) : (
    <td className={side}>{text}</td>
  );
}
