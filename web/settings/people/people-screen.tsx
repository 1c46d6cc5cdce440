import '../mail/mail-screen.css';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { ApiProblem } from '../../api/client.ts';
import { download } from '../../api/operations.ts';
import { Button } from '../../design/button.tsx';
import { Chip } from '../../design/chip.tsx';
import { TextField } from '../../design/field.tsx';
import { Form } from '../../design/form.tsx';
import { Message } from '../../design/message.tsx';
import { Card, Page } from '../../design/page.tsx';
import { Pager } from '../../design/pager.tsx';
import { Select } from '../../design/select.tsx';
import { EmptyState, Loading } from '../../design/states.tsx';
import { toastProblem } from '../../design/toast.tsx';
import { useWorkspace } from '../workspace.ts';
import { EraseDialog } from './erase-dialog.tsx';
import { Erasures } from './erasures.tsx';
import { Found } from './found.tsx';
import { type Question, traceQuery } from './people-query.ts';
import { ReceiptCard } from './receipt.tsx';

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
  const [isErasing, setErasing] = useState(false);
  const [begun, setBegun] = useState<string>();
  const found = useQuery(traceQuery(workspace.id, question, page));
  const problem = found.error instanceof ApiProblem ? found.error : undefined;
  const save = useMutation({
    mutationFn: (of: Question) =>
      download(workspace.id, 'exportPerson', {
        query: { ...of, ...(except.size > 0 && { except: [...except].join(',') }) },
      }),
    onError: toastProblem,
  });
  const begin = (next: Question | undefined): void => {
    setQuestion(next);
    setPage(1);
    setExcept(new Set());
    setErasing(false);
  };
  const total = found.data?.pagination.total_count ?? 0;
  const count = total - except.size;
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
            <Button
              icon="download"
              isDisabled={count === 0}
              isPending={save.isPending}
              onPress={() => save.mutate(question)}
            >
              Export {count.toLocaleString()}
            </Button>
            <Button icon="remove" variant="danger" isDisabled={count === 0} onPress={() => setErasing(true)}>
              Erase {count.toLocaleString()} …
            </Button>
          </div>
          <EraseDialog
            workspace={workspace.id}
            question={question}
            except={[...except]}
            count={count}
            isOpen={isErasing}
            onClose={() => setErasing(false)}
            onBegun={(id) => {
              setBegun(id);
              setAsked({ ...asked, q: '' });
              begin(undefined);
            }}
          />
        </>
      )}
      <Erasures workspace={workspace.id} />
    </Page>
  );
}
