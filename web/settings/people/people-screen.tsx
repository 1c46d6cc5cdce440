import '../mail.css';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { ApiProblem } from '../../api/client.ts';
import { callOperation, download } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button } from '../../design/button.tsx';
import { Chip } from '../../design/chip.tsx';
import { TextField } from '../../design/field.tsx';
import { Form } from '../../design/form.tsx';
import { Message } from '../../design/message.tsx';
import { Card, SettingsPage } from '../../design/page.tsx';
import { Pager } from '../../design/pager.tsx';
import { Select } from '../../design/select.tsx';
import { EmptyState, Loading, QueryState } from '../../design/states.tsx';
import { DataTable, type TableColumn } from '../../design/table.tsx';
import { Ago } from '../../design/time.tsx';
import { useWorkspace } from '../workspace.ts';
import {
  describeErased,
  downloadErasureReceipt,
  type Erasure,
  ErasureReceiptCard,
  erasuresQuery,
  FoundRecords,
  type PersonSearchInput,
  personRecordsQuery,
} from './person-records.tsx';

const choices: readonly { id: Erasure['what']; label: string; description: string }[] = [
  { id: 'submissions', label: 'Everything', description: 'Deletes the submissions and all related data.' },
  {
    id: 'identity',
    label: 'Personal details only',
    description: 'Keeps the submissions without the answers that identify the person.',
  },
];

const columns: readonly TableColumn<Erasure>[] = [
  {
    id: 'gone',
    title: 'Erased data',
    cell: ({ gone, finished_at, failed_reason }) =>
      finished_at === null ? (failed_reason === null ? 'In progress' : 'Stopped') : describeErased(gone),
  },
  {
    id: 'who',
    title: 'By',
    isSecondary: true,
    cell: ({ requested_by }) => requested_by ?? 'A deleted account',
  },
  { id: 'when', title: 'When', isSecondary: true, cell: ({ created_at }) => <Ago at={created_at} /> },
  {
    id: 'receipt',
    title: 'Receipt',
    cell: (erasure) =>
      erasure.finished_at !== null && (
        <Button icon="download" size="small" onPress={() => downloadErasureReceipt(erasure)}>
          Download
        </Button>
      ),
  },
];

/** Lists the receipts of erasures. They do not identify the erased people. */
function Erasures({ workspace }: { workspace: string }): ReactElement {
  const [page, setPage] = useState(1);
  const erasures = useQuery(erasuresQuery(workspace, page));
  return (
    <QueryState query={erasures} label="Loading receipts…" empty={page === 1 && <></>}>
      {({ data, pagination }) => (
        <Card
          title="Receipts"
          lead="Each receipt shows how much was erased, by whom and when. It does not identify the person."
        >
          <DataTable label="Receipts" columns={columns} rows={data} rowId={({ id }) => id} />
          <Pager label="Pages of receipts" page={page} pagination={pagination} onChange={setPage} />
        </Card>
      )}
    </QueryState>
  );
}

const matches: readonly { id: PersonSearchInput['match']; label: string; description: string }[] = [
  {
    id: 'exact',
    label: 'Exact match',
    description: 'Searches all stored data for an email address, a number or an answer.',
  },
  {
    id: 'words',
    label: 'Words',
    description: 'Finds submissions that contain these words, like the submission search.',
  },
];

/** Finds, exports and erases all data of a person. Each erasure has a receipt. */
export function PeopleScreen(): ReactElement {
  const workspace = useWorkspace();
  const [draft, setDraft] = useState<PersonSearchInput>({ q: '', match: 'exact' });
  const [question, setQuestion] = useState<PersonSearchInput>();
  const [page, setPage] = useState(1);
  const [except, setExcept] = useState<ReadonlySet<string>>(new Set());
  const [what, setWhat] = useState<Erasure['what']>('submissions');
  const [begun, setBegun] = useState<string>();
  const found = useQuery(personRecordsQuery(workspace.id, question, page));
  const problem = found.error instanceof ApiProblem ? found.error : undefined;
  const save = useAction({
    run: (of: PersonSearchInput) =>
      download(workspace.id, 'exportPerson', {
        query: { ...of, ...(except.size > 0 && { except: [...except].join(',') }) },
      }),
    problem: 'toast',
  });
  const begin = (next: PersonSearchInput | undefined): void => {
    setQuestion(next);
    setPage(1);
    setExcept(new Set());
  };
  const total = found.data?.pagination.total_count ?? 0;
  const count = total - except.size;
  const erase = useAction({
    run: (of: PersonSearchInput) =>
      callOperation(workspace.id, 'erasePerson', {
        body: { ...of, what, except: [...except], expected: count },
      }),
    confirm: ({ q }) => ({
      title: count === 1 ? 'Erase 1 record?' : `Erase ${count.toLocaleString()} records?`,
      label: 'Erase permanently',
      typed: q,
      text: (
        <div className="stack">
          <Select label="Data to erase" value={what} choices={choices} onChange={setWhat} />
          <p>
            Files, history, notes, events, deliveries, emails and invitations are erased too, without going to
            the trash first. Webhooks are notified of the deletions without the person’s answers. If the
            person asked for a copy, export it first.
          </p>
        </div>
      ),
    }),
    onDone({ id }) {
      setBegun(id);
      setDraft({ ...draft, q: '' });
      begin(undefined);
    },
  });
  return (
    <SettingsPage title="People" lead="Find, export or erase the data of a person who answered your forms.">
      <Card title="Find">
        <Form
          className="mail-test"
          isPending={found.isFetching}
          onSubmit={() => {
            setBegun(undefined);
            begin({ ...draft, q: draft.q.trim() });
            if (question?.q === draft.q.trim() && question.match === draft.match) void found.refetch();
          }}
        >
          <TextField
            label="Email address, number or answer"
            value={draft.q}
            onChange={(q) => setDraft({ ...draft, q })}
            error={problem?.of('q')}
          />
          <Select
            label="Match type"
            value={draft.match}
            choices={matches}
            onChange={(match) => setDraft({ ...draft, match })}
          />
          <Button type="submit" icon="search" variant="primary" isPending={found.isFetching}>
            Find person
          </Button>
        </Form>
      </Card>
      {begun !== undefined && <ErasureReceiptCard workspace={workspace.id} id={begun} />}
      {question === undefined ? null : found.error ? (
        problem?.of('q') === undefined && <Message tone="bad">{found.error.message}</Message>
      ) : !found.data ? (
        <Loading label="Searching all data…" />
      ) : total === 0 ? (
        <EmptyState icon="search" title="No data found for this person">
          <p>Try another email address or number for this person, or words from an answer.</p>
        </EmptyState>
      ) : (
        <>
          <div className="row">
            {found.data.forms.slice(0, 8).map(({ form_id, form_name, count: some }) => (
              <Chip key={form_id}>
                {form_name ?? 'No form'}: {some.toLocaleString()}
              </Chip>
            ))}
          </div>
          {found.data.is_partial && (
            <Message tone="warn">
              There are too many results to check them all. Make your search more specific.
            </Message>
          )}
          <FoundRecords
            records={found.data.data}
            except={except}
            onExcept={(id, isExcepted) => {
              const next = new Set(except);
              if (isExcepted) next.add(id);
              else next.delete(id);
              setExcept(next);
            }}
          />
          <Pager
            label="Pages of results"
            pagination={{ ...found.data.pagination, page }}
            onChange={setPage}
          />
          <div className="row">
            <Button icon="download" isDisabled={count === 0} {...save.press(question)}>
              Export {count.toLocaleString()}
            </Button>
            <Button
              icon="remove"
              variant="danger"
              isDisabled={count === 0}
              onPress={() => erase.start(question)}
            >
              Erase {count.toLocaleString()} …
            </Button>
          </div>
          {erase.dialog}
        </>
      )}
      <Erasures workspace={workspace.id} />
    </SettingsPage>
  );
}
