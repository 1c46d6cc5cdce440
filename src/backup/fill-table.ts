import { once } from 'node:events';
import { escapeIdentifier, type PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { identifier } from './cells.ts';

// What names tables, which are no parameters of a statement.

export type Table = { readonly name: string; readonly columns: readonly string[] };

export const listed = ({ columns }: Table): string =>
  columns.map((column) => escapeIdentifier(column)).join(', ');

const copyIn = (table: Table): string => `copy ${identifier(table.name)} (${listed(table)}) from stdin`;

/** A COPY into a table, which its connection is busy with until it is ended one way or the other. */
export type Filling = {
  pour(source: AsyncIterable<Uint8Array>): Promise<void>;
  /** @returns how many rows came in. */
  end(): Promise<number>;
  /** Ends it without its rows, so that the transaction can be rolled back: else that would wait for ever. */
  giveUp(): Promise<void>;
};

export function fillTable(client: PoolClient, table: Table): Filling {
  const copy = client.query(copyFrom(copyIn(table)));
  let isOver = false;
  let failure: Error | undefined;
  copy.once('finish', () => void (isOver = true));
  // A connection that is gone says so before anybody waits for it.
  copy.once('error', (error) => {
    isOver = true;
    failure = error;
  });
  const refuseFailed = (): void => {
    if (failure) throw failure;
  };
  return {
    // A stream of a COPY is told its errors by its query, so each wait ends with it.
    async pour(source) {
      for await (const chunk of source) {
        refuseFailed();
        if (!copy.write(chunk)) await once(copy, 'drain');
      }
    },
    async end() {
      refuseFailed();
      const finished = once(copy, 'finish');
      copy.end();
      await finished;
      return copy.rowCount;
    },
    async giveUp() {
      if (isOver) return;
      const closed = new Promise((resolve) => copy.once('close', resolve));
      copy.destroy();
      await closed;
    },
  };
}
