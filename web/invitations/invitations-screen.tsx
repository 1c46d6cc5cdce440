import './invitations.css';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { formatCount } from '#ast/basics/format-number.ts';
import { callOperation, download } from '../api/operations.ts';
import { useAction } from '../design/action.tsx';
import { Button } from '../design/button.tsx';
import { SearchField } from '../design/field.tsx';
import { Message } from '../design/message.tsx';
import { Page } from '../design/page.tsx';
import { Pager } from '../design/pager.tsx';
import { Select } from '../design/select.tsx';
import { EmptyState, QueryState } from '../design/states.tsx';
import { TaskProgress } from '../design/task-progress.tsx';
import { useDebounced } from '../design/use-debounced.ts';
import { mayEdit, useCurrentForm } from '../shell/session.ts';
import {
  type FormLocation,
  type InvitationListView,
  type InvitationsOverview,
  invitationListQuery,
  invitationsOverviewQuery,
  isBatchRunning,
} from './invitations-query.ts';
import { InvitationsTable, invitationStatusLabels, statusOrder } from './invitations-table.tsx';

function ListActions({
  form,
  overview: { counts, mails_per_minute: pace },
}: {
  form: FormLocation;
  overview: InvitationsOverview;
}): ReactElement {
  const unanswered = counts.sent + counts.opened + counts.started;
  const place = { params: { id: form.id } };
  const remind = useAction({
    run: () => callOperation(form.workspace_id, 'remindInvitations', { ...place, body: {} }),
    confirm: {
      title: 'Send reminders?',
      label: 'Send reminders',
      isDanger: false,
      text: `${formatPeople(unanswered)} received an invitation but did not answer. People who were emailed within the last hour or have unsubscribed are skipped.`,
    },
    done: ({ count }) =>
      count === 0
        ? 'No reminders were sent. All of these people were emailed within the last hour.'
        : `${formatPeople(count)} will be reminded.`,
  });
  const save = useAction({
    run: () => download(form.workspace_id, 'exportInvitations', place),
    problem: 'toast',
  });
  return (
    <>
      <Button {...save.press()}>Download links</Button>
      {pace !== null && (
        <Button icon="send" isDisabled={unanswered === 0} {...remind.press()}>
          Send reminders
        </Button>
      )}
      {remind.dialog}
    </>
  );
}

const formatPeople = (count: number): string => formatCount(count, 'person', 'people');

/**
 * Shows batches that are running or stopped. Invitations are created first, then sent as fast as the
 * service's email limit allows.
 */
function BatchProgress({ overview: { batches, mails_per_minute: pace } }: { overview: InvitationsOverview }) {
  return batches
    .filter((batch) => isBatchRunning(batch) || batch.failed_reason !== null)
    .map(({ id, total, created, skipped, waiting, failed_reason }) =>
      created + skipped < total ? (
        <TaskProgress
          key={id}
          label="Creating invitations"
          task={{ done: created + skipped, total, failed_reason }}
          unit="people"
          advice="You can import the file again. No address is invited twice."
        />
      ) : (
        <TaskProgress
          key={id}
          label="Sending emails"
          task={{ done: created - waiting, total: created, failed_reason }}
          note={pace !== null && `up to ${pace.toLocaleString()} per minute. You can leave this page.`}
        />
      ),
    );
}

/** Lists who was invited to a form, with the status of each invitation. */
export function InvitationsScreen(): ReactElement {
  const form = useCurrentForm();
  const navigate = useNavigate();
  const query = useQuery(invitationsOverviewQuery(form));
  const overview = query.data;
  const isEditor = mayEdit(form.role);
  const total = overview ? sum(overview.counts) : 0;
  const isMoving = overview?.batches.some(isBatchRunning) ?? false;
  const isEmpty = overview !== undefined && total === 0 && !isMoving;
  const invite = (
    <Button
      variant="primary"
      icon="add"
      onPress={() => void navigate({ to: '/forms/$form/invitations/new', params: { form: form.id } })}
    >
      Invite people
    </Button>
  );
  return (
    <Page
      title="Invitations"
      lead="Each person gets a personal link that can be used once."
      actions={
        isEditor && (
          <>
            {overview && total > 0 && <ListActions form={form} overview={overview} />}
            {!isEmpty && invite}
          </>
        )
      }
    >
      <QueryState query={query} label="Loading invitations…">
        {(found) => (
          <>
            <Notes overview={found} />
            <BatchProgress overview={found} />
            {isEmpty ? (
              <EmptyState icon="people" title="No invitations yet" action={isEditor && invite}>
                <p>
                  Paste addresses or import a list. You can see who opened the form and who answered, and
                  remind the others. Extra columns in the list are saved with the submissions.
                </p>
              </EmptyState>
            ) : (
              <List overview={found} isEditor={isEditor} />
            )}
          </>
        )}
      </QueryState>
    </Page>
  );
}

const sum = (counts: InvitationsOverview['counts']): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);

/** Notes about the service and the form for the person who sends invitations. */
function Notes({ overview }: { overview: InvitationsOverview }): ReactElement {
  return (
    <>
      {overview.mails_per_minute === null && (
        <Message tone="warn" title="Email is not set up">
          The operator has not set up email. You can still create invitations, then copy or download the links
          and send them yourself.
        </Message>
      )}
      {overview.access !== 'invited' && (
        <Message>
          This form is also open to people without an invitation. To admit only people you invite, choose
          “Invited people” in the form’s settings.
        </Message>
      )}
    </>
  );
}

type ListProps = { overview: InvitationsOverview; isEditor: boolean };

function List({ overview, isEditor }: ListProps): ReactElement {
  const form = useCurrentForm();
  const [view, setView] = useState<InvitationListView>({ q: '', status: undefined, page: 1 });
  // Waits for a pause in typing, because each change would start a search.
  const debounced = { ...view, q: useDebounced(view.q) };
  const list = useQuery(invitationListQuery(form, debounced, overview.counts));
  const choices = [
    { id: 'any', label: `Any status (${sum(overview.counts).toLocaleString()})` },
    ...statusOrder.map((status) => ({
      id: status,
      label: `${invitationStatusLabels[status][0]} (${overview.counts[status].toLocaleString()})`,
      description: invitationStatusLabels[status][2],
    })),
  ];
  const choose = (id: string): void =>
    setView({ ...view, page: 1, status: statusOrder.find((status) => status === id) });
  return (
    <>
      <div className="row" role="search">
        <SearchField
          label="Search by address or name"
          value={view.q}
          onChange={(q) => setView({ ...view, q, page: 1 })}
        />
        <Select
          label="Status"
          isLabelHidden
          choices={choices}
          value={view.status ?? 'any'}
          onChange={choose}
        />
      </div>
      <QueryState
        query={list}
        label="Loading invitations…"
        empty={
          <p className="soft" role="status">
            No matching invitations. Change the search or the status.
          </p>
        }
      >
        {({ data, pagination }) => (
          <>
            <InvitationsTable
              form={form}
              rows={data}
              isEditor={isEditor}
              canMail={overview.mails_per_minute !== null}
            />
            <Pager
              label="Pages of invitations"
              page={view.page}
              pagination={pagination}
              onChange={(page) => setView({ ...view, page })}
            />
          </>
        )}
      </QueryState>
    </>
  );
}
