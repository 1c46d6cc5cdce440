import './mail.css';
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import type { LoggedMail, MailKind, MailState, MailStatus } from '#mail/shapes.ts';
import { callOperation, operationQuery } from '../api/operations.ts';
import { useAction } from '../design/action.tsx';
import { Button } from '../design/button.tsx';
import { StatusChip } from '../design/chip.tsx';
import { TextField } from '../design/field.tsx';
import { Form } from '../design/form.tsx';
import { Message } from '../design/message.tsx';
import { Card, SettingsPage } from '../design/page.tsx';
import { Pager } from '../design/pager.tsx';
import { Select } from '../design/select.tsx';
import { EmptyState, QueryState } from '../design/states.tsx';
import { DataTable, type TableColumn } from '../design/table.tsx';
import { Ago, formatDateTime } from '../design/time.tsx';
import { useSession } from '../shell/session.ts';
import { useWorkspace } from './workspace.ts';

const mailsOfPage = 25;
/** How often the log is refreshed while emails are queued, in milliseconds. */
const refreshMs = 3_000;

const mailStatusQuery = (workspace: string) =>
  queryOptions({
    ...operationQuery(workspace, 'getMailStatus', {}),
    refetchInterval: ({ state }) => ((state.data?.counts.queued ?? 0) > 0 ? refreshMs : false),
  });

const mailLogQuery = (workspace: string, view: { state: MailState | undefined; page: number }) =>
  queryOptions({
    ...operationQuery(workspace, 'listMails', { query: { ...view, per_page: mailsOfPage } }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.data.some((mail) => mail.state === 'queued') ? refreshMs : false,
  });

/** The labels of the kinds of email. */
const kindWords: Readonly<Record<MailKind, string>> = {
  notification: 'Notification',
  digest: 'Digest',
  assignment: 'Assignment',
  receipt: 'Receipt',
  resume_link: 'Link to saved answers',
  edit_link: 'Link to change answers',
  email_code: 'Verification code',
  invitation: 'Invitation',
  reminder: 'Reminder',
  member_invitation: 'Member invitation',
  password_reset: 'Password reset',
  security_notice: 'Security notice',
  incident: 'Incident',
  announcement: 'Announcement',
  test: 'Test',
};

/** One page of emails with their delivery status. */
function MailTable({ workspace, mails }: { workspace: string; mails: readonly LoggedMail[] }): ReactElement {
  const columns: TableColumn<LoggedMail>[] = [
    {
      id: 'mail',
      title: 'Email',
      cell: (mail) => (
        <div className="mail-what">
          <span className="mail-recipient">{mail.recipient}</span>
          <span>{mail.subject}</span>
          <span className="soft small">
            {[kindWords[mail.kind], ...(mail.form_name === null ? [] : [mail.form_name])].join(' · ')}
          </span>
        </div>
      ),
    },
    { id: 'state', title: 'Status', cell: (mail) => <MailStatusCell workspace={workspace} mail={mail} /> },
    { id: 'written', title: 'Created', isSecondary: true, cell: ({ created_at }) => <Ago at={created_at} /> },
  ];
  return <DataTable label="Emails" columns={columns} rows={mails} rowId={({ id }) => id} />;
}

function MailStatusCell({ workspace, mail }: { workspace: string; mail: LoggedMail }): ReactElement {
  const retry = useAction({
    run: () => callOperation(workspace, 'retryMail', { params: { id: mail.id } }),
    done: `The email to ${mail.recipient} will be sent again.`,
    problem: 'toast',
  });
  const waits = mail.state === 'queued' && mail.error !== null && mail.next_attempt_at !== null;
  return (
    <div className="mail-fate">
      <StatusChip status={mail.state} />
      {mail.error !== null && <span className="soft small mail-error">{mail.error}</span>}
      {waits && <span className="soft small">Next attempt: {formatDateTime(mail.next_attempt_at!)}</span>}
      {mail.state === 'failed' && (
        <Button size="small" icon="refresh" aria-label={`Send again to ${mail.recipient}`} {...retry.press()}>
          Send again
        </Button>
      )}
    </div>
  );
}

/** Sends a test email immediately and shows the mail server's response. */
function SendTest({ workspace }: { workspace: string }): ReactElement {
  const { user } = useSession();
  const [to, setTo] = useState(user.email);
  const send = useAction({ run: () => callOperation(workspace, 'testMail', { body: { to } }) });
  return (
    <Card title="Send a test email">
      <Form className="mail-test" isPending={send.isPending} onSubmit={() => send.mutate()}>
        <TextField
          label="To"
          type="text"
          inputMode="email"
          value={to}
          onChange={setTo}
          error={send.of('to')}
        />
        <Button type="submit" icon="send" isPending={send.isPending}>
          Send test
        </Button>
      </Form>
      <div role="status" className="mail-result">
        {send.data && <Message tone={send.data.sent ? 'good' : 'warn'}>{send.data.result}</Message>}
      </div>
      {send.unlocated !== undefined && <Message tone="bad">{send.unlocated}</Message>}
    </Card>
  );
}

const stateWords = { queued: 'Queued', sent: 'Sent', failed: 'Failed', cancelled: 'Canceled' } as const;
const states = Object.keys(stateWords) as MailState[];

/** Reads the view from the URL, which people can also edit by hand. */
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

/** The email log of a workspace, and whether this server can send email. */
export function EmailLogScreen(): ReactElement {
  const workspace = useWorkspace();
  const [view, change] = useView();
  const status = useQuery(mailStatusQuery(workspace.id));
  const log = useQuery(mailLogQuery(workspace.id, view));
  return (
    <SettingsPage
      title="Email"
      lead="Emails from this workspace in the last 90 days, with their delivery status."
    >
      {status.data && <SetUp status={status.data} />}
      {status.data?.is_on && <SendTest workspace={workspace.id} />}
      <div className="row">
        <Select
          label="Show"
          className="mail-filter"
          value={view.state ?? 'all'}
          choices={[
            { id: 'all', label: 'All emails' },
            ...states.map((id) => ({ id, label: formatStateCount(id, status.data) })),
          ]}
          onChange={(id) => change({ state: id === 'all' ? undefined : id })}
        />
      </div>
      <QueryState
        query={log}
        label="Loading emails…"
        empty={
          <EmptyState icon="mail" title={view.state ? 'No matching emails' : 'No emails yet'}>
            <p>Notifications, receipts and invitations will appear here.</p>
          </EmptyState>
        }
      >
        {({ data, pagination }) => (
          <>
            <MailTable workspace={workspace.id} mails={data} />
            <Pager
              label="Pages of emails"
              page={view.page}
              pagination={pagination}
              onChange={(page) => change({ ...view, page })}
            />
          </>
        )}
      </QueryState>
    </SettingsPage>
  );
}

const formatStateCount = (state: MailState, status: MailStatus | undefined): string =>
  status ? `${stateWords[state]} (${status.counts[state].toLocaleString()})` : stateWords[state];

function SetUp({ status }: { status: MailStatus }): ReactElement {
  if (status.is_on)
    return (
      <p className="soft">
        Emails are sent from {status.from}, {status.per_minute.toLocaleString()} per minute at most.
      </p>
    );
  return (
    <Message tone="warn" title="Email is not set up">
      Notifications, receipts and links are not sent. Invitations show a link to copy instead. The operator
      can turn on email with <code>SMTP_URL</code> and <code>MAIL_FROM</code>. You can then resend failed
      emails here.
    </Message>
  );
}
