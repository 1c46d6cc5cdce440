import './mail-screen.css';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import type { MailState, MailStatus } from '#mail/shapes.ts';
import { Message } from '../../design/message.tsx';
import { Page } from '../../design/page.tsx';
import { Pager } from '../../design/pager.tsx';
import { Select } from '../../design/select.tsx';
import { EmptyState, ErrorState, Loading } from '../../design/states.tsx';
import { useWorkspace } from '../workspace.ts';
import { mailLogQuery, mailStatusQuery } from './mail-query.ts';
import { MailTable } from './mail-table.tsx';
import { SendTest } from './send-test.tsx';

const stateWords = { queued: 'Queued', sent: 'Sent', failed: 'Failed', cancelled: 'Cancelled' } as const;
const states = Object.keys(stateWords) as MailState[];

/** What the address says: which mails are shown. Addresses are written by people too. */
function useView(): [
  { state: MailState | undefined; page: number },
  (change: { state?: MailState | undefined; page?: number | undefined }) => void,
] {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const page = Number(search['page']);
  const view = {
    state: states.find((state) => state === search['state']),
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
  };
  return [view, (change) => void navigate({ to: '.', search: { ...view, page: undefined, ...change } })];
}

/** What left the workspace by mail, what did not and why; and whether mail leaves this server at all. */
export function MailScreen(): ReactElement {
  const workspace = useWorkspace();
  const [view, change] = useView();
  const status = useQuery(mailStatusQuery(workspace.id));
  const log = useQuery(mailLogQuery(workspace.id, view));
  return (
    <Page title="Mail" lead="Every mail of this workspace in the last 90 days, and how it fared.">
      {status.data && <SetUp status={status.data} />}
      {status.data?.is_on && <SendTest workspace={workspace.id} />}
      <div className="row">
        <Select
          label="Show"
          className="mail-filter"
          value={view.state ?? 'all'}
          choices={[
            { id: 'all', label: 'All mails' },
            ...states.map((id) => ({ id, label: sayCount(id, status.data) })),
          ]}
          onChange={(id) => change({ state: id === 'all' ? undefined : id })}
        />
      </div>
      {log.error && !log.data ? (
        <ErrorState error={log.error} onRetry={() => void log.refetch()} />
      ) : !log.data ? (
        <Loading label="Loading the mail log …" />
      ) : log.data.data.length === 0 ? (
        <EmptyState icon="mail" title={view.state ? 'No such mail' : 'No mail yet'}>
          <p>Notifications, receipts and invitations are listed here as soon as there are any.</p>
        </EmptyState>
      ) : (
        <>
          <MailTable workspace={workspace.id} mails={log.data.data} />
          <Pager
            label="Pages of the mail log"
            page={view.page}
            pagination={log.data.pagination}
            onChange={(page) => change({ ...view, page })}
          />
        </>
      )}
    </Page>
  );
}

const sayCount = (state: MailState, status: MailStatus | undefined): string =>
  status ? `${stateWords[state]} (${status.counts[state].toLocaleString()})` : stateWords[state];

function SetUp({ status }: { status: MailStatus }): ReactElement {
  if (status.is_on) {
    return (
      <p className="soft">
        Mails come from {status.from}, {status.per_minute.toLocaleString()} in a minute at most.
      </p>
    );
  }
  return (
    <Message tone="warn" title="This server sends no mail">
      Notifications, receipts and links stay unsent, and invitations show their links to copy. Whoever runs
      the server turns mail on with <code>SMTP_URL</code> and <code>MAIL_FROM</code>; what failed until then
      can be sent again here.
    </Message>
  );
}
