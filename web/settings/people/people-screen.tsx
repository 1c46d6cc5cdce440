import '../mail.css';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { ApiProblem } from '../../api/client.ts';
import { call, download } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button } from '../../design/button.tsx';
import { Chip } from '../../design/chip.tsx';
import { TextField } from '../../design/field.tsx';
import { Form } from '../../design/form.tsx';
import { Message } from '../../design/message.tsx';
import { Card, Page } from '../../design/page.tsx';
import { Pager } from '../../design/pager.tsx';
import { Select } from '../../design/select.tsx';
import { EmptyState, Loading, QueryState } from '../../design/states.tsx';
import { DataTable, type TableColumn } from '../../design/table.tsx';
import { Ago } from '../../design/time.tsx';
import { useWorkspace } from '../workspace.ts';
import {
  type Erasure,
  erasuresQuery,
  Found,
  type Question,
  ReceiptCard,
  saveReceipt,
  sayGone,
  traceQuery,
} from './found-person.tsx';

const choices: readonly { id: Erasure['what']; label: string; description: string }[] = [
  {
    id: 'submissions',
    label: 'Everything',
    description: 'Submissions go as a whole, with all that came of them.',
  },
  {
    id: 'identity',
    label: 'Who it was',
    description: 'Submissions stay, without the answers that tell who somebody is.',
  },
];

const columns: readonly TableColumn<Erasure>[] = [
  {
    id: 'gone',
    title: 'Gone',
    cell: ({ gone, finished_at, failed_reason }) =>
      finished_at === null ? (failed_reason === null ? 'On its way' : 'Stopped') : sayGone(gone),
  },
  {
    id: 'who',
    title: 'By',
    isSecondary: true,
    cell: ({ requested_by }) => requested_by ?? 'Somebody who is gone',
  },
  { id: 'when', title: 'When', isSecondary: true, cell: ({ created_at }) => <Ago at={created_at} /> },
  {
    id: 'receipt',
    title: 'Receipt',
    cell: (erasure) =>
      erasure.finished_at !== null && (
        <Button icon="download" size="small" onPress={() => saveReceipt(erasure)}>
          Download
        </Button>
      ),
  },
];

/** The receipts of what was erased: they name nobody. */
function Erasures({ workspace }: { workspace: string }): ReactElement {
  const [page, setPage] = useState(1);
  const erasures = useQuery(erasuresQuery(workspace, page));
  return (
    <QueryState query={erasures} label="Loading the receipts …" empty={page === 1 && <></>}>
      {({ data, pagination }) => (
        <Card title="Receipts" lead="How much was erased, by whom and when. They name nobody.">
          <DataTable label="Receipts" columns={columns} rows={data} rowId={({ id }) => id} />
          <Pager label="Pages of receipts" page={page} pagination={pagination} onChange={setPage} />
        </Card>
      )}
    </QueryState>
  );
}

const matches: readonly { id: Question['match']; label: string; description: string }[] = [
  {
    id: 'exact',
    label: 'Exactly this',
    description: 'In everything that is kept: an address, a number or an answer.',
  },
  { id: 'words', label: 'These words', description: 'In submissions, as the search finds them.' },
];

/** Everything that is kept of one person: found, exported, and erased with a receipt. */
export function PeopleScreen(): ReactElement {
  const workspace = useWorkspace();
  const [asked, setAsked] = useState<Question>({ q: '', match: 'exact' });
  const [question, setQuestion] = useState<Question>();
  const [page, setPage] = useState(1);
  const [except, setExcept] = useState<ReadonlySet<string>>(new Set());
  const [what, setWhat] = useState<Erasure['what']>('submissions');
  const [begun, setBegun] = useState<string>();
  const found = useQuery(traceQuery(workspace.id, question, page));
  const problem = found.error instanceof ApiProblem ? found.error : undefined;
  const save = useAction({
    run: (of: Question) =>
      download(workspace.id, 'exportPerson', {
        query: { ...of, ...(except.size > 0 && { except: [...except].join(',') }) },
      }),
    problem: 'toast',
  });
  const begin = (next: Question | undefined): void => {
    setQuestion(next);
    setPage(1);
    setExcept(new Set());
  };
  const total = found.data?.pagination.total_count ?? 0;
  const count = total - except.size;
  const erase = useAction({
    run: (of: Question) =>
      call(workspace.id, 'erasePerson', { body: { ...of, what, except: [...except], expected: count } }),
    confirm: ({ q }) => ({
      title: count === 1 ? 'Erase this one thing?' : `Erase these ${count.toLocaleString()} things?`,
      label: 'Erase for good',
      typed: q,
      text: (
        <div className="stack">
          <Select label="What goes" value={what} choices={choices} onChange={setWhat} />
          <p>
            Files, history, notes, events, deliveries, mails and invitations go too, and no trash keeps them.
            Webhooks are told, without any answer of this person. Export first if somebody asked for a copy.
          </p>
        </div>
      ),
    }),
    onDone({ id }) {
      setBegun(id);
      setAsked({ ...asked, q: '' });
      begin(undefined);
    },
  });
  return (
    <Page
      title="People"
      lead="What is kept of one person in all forms: find it, export it, erase it. A person is whoever answered, and no member."
    >
      <Card title="Find">
        <Form
          className="mail-test"
          isPending={found.isFetching}
          onSubmit={() => {
            setBegun(undefined);
            begin({ ...asked, q: asked.q.trim() });
            if (question?.q === asked.q.trim() && question.match === asked.match) void found.refetch();
          }}
        >
          <TextField
            label="Address, number or answer"
            autoComplete="off"
            value={asked.q}
            onChange={(q) => setAsked({ ...asked, q })}
            error={problem?.of('q')}
          />
          <Select
            label="How"
            value={asked.match}
            choices={matches}
            onChange={(match) => setAsked({ ...asked, match })}
          />
          <Button type="submit" icon="search" variant="primary" isPending={found.isFetching}>
            Find person
          </Button>
        </Form>
      </Card>
      {begun !== undefined && <ReceiptCard workspace={workspace.id} id={begun} />}
      {question === undefined ? null : found.error ? (
        problem?.of('q') === undefined && <Message tone="bad">{found.error.message}</Message>
      ) : !found.data ? (
        <Loading label="Looking through everything …" />
      ) : total === 0 ? (
        <EmptyState icon="search" title="Nothing is kept of this person">
          <p>Look for another address or number of theirs, or for words of an answer.</p>
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
            <Message tone="warn">More is found than is looked at. Look for something more exact.</Message>
          )}
          <Found
            traces={found.data.data}
            except={except}
            onExcept={(id, isExcepted) => {
              const next = new Set(except);
              if (isExcepted) next.add(id);
              else next.delete(id);
              setExcept(next);
            }}
          />
          <Pager
            label="Pages of what is found"
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
    </Page>
  );
}
