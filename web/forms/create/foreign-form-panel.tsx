import './foreign-form-panel.css';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import type { ReplyOf } from '#app/operations.ts';
import { call } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';
import { Button } from '../../design/button.tsx';
import { Message } from '../../design/message.tsx';

type Converted = ReplyOf<'convertForm'>;
type Line = Converted['report'][number];
type Document = Readonly<Record<string, unknown>>;

const sources: Readonly<Record<Converted['source'], string>> = {
  typeform: 'a form of Typeform',
  tally: 'a form of Tally',
  google_forms: 'a form of Google Forms',
  surveyjs: 'a survey of SurveyJS',
};

/** The outcomes with their headings, the worst first. */
const outcomes = [
  ['left_out', 'Left out'],
  ['changed', 'Changed'],
  ['mapped', 'Taken over'],
] as const satisfies readonly (readonly [Line['outcome'], string])[];

/** What a form of another service becomes here, told part by part before it is made. */
export function ForeignFormPanel({
  workspaceId,
  document,
  onBack,
}: {
  workspaceId: string;
  document: Document;
  onBack: () => void;
}): ReactElement {
  const navigate = useNavigate();
  const looked = useQuery({
    queryKey: ['foreign form', workspaceId, document],
    queryFn: () => call(workspaceId, 'convertForm', { body: { document } }),
    gcTime: 0,
    retry: false,
  });
  const create = useMutation({
    mutationFn: () => call(workspaceId, 'importForm', { body: { document } }),
    async onSuccess({ id }) {
      await queryClient.invalidateQueries({ queryKey: ['forms'] });
      await navigate({ to: '/forms/$form', params: { form: id } });
    },
  });
  const found = looked.data;
  const problem = looked.error ?? create.error;
  return (
    <div className="foreign-form">
      {problem && <Message tone="bad">{problem.message}</Message>}
      {looked.isPending && <p role="status">It is read …</p>}
      {found && <Report found={found} />}
      <div className="spread">
        <Button onPress={onBack}>Back to the text</Button>
        {found && (
          <Button variant="primary" autoFocus onPress={() => create.mutate()} isPending={create.isPending}>
            Create this form
          </Button>
        )}
      </div>
    </div>
  );
}

function Report({ found }: { found: Converted }): ReactElement {
  const { source, report, report_count, problems } = found;
  return (
    <>
      <p role="status">
        This is {sources[source]}. It becomes a draft here; of each of its parts is said what became of it.
      </p>
      {problems.length > 0 && (
        <Message tone="warn" title="Before it is published, something is to be mended in the builder">
          <ul role="list">
            {problems.map(({ message }, index) => (
              <li key={index}>{message}</li>
            ))}
          </ul>
        </Message>
      )}
      {outcomes.map(([outcome, title]) => (
        <Lines
          key={outcome}
          title={title}
          lines={report.filter((line) => line.outcome === outcome)}
          isOpen={outcome !== 'mapped'}
        />
      ))}
      {report_count > report.length && (
        <p className="soft">And {(report_count - report.length).toLocaleString()} more parts.</p>
      )}
    </>
  );
}

function Lines({
  title,
  lines,
  isOpen,
}: {
  title: string;
  lines: readonly Line[];
  isOpen: boolean;
}): ReactElement | null {
  if (lines.length === 0) return null;
  return (
    <details open={isOpen}>
      <summary>
        {title} <span className="soft numeric">{lines.length.toLocaleString()}</span>
      </summary>
      <ul role="list" className="foreign-lines" tabIndex={0} aria-label={title}>
        {lines.map(({ path, title: part, message }, index) => (
          <li key={index}>
            <span className="foreign-part">
              {part !== undefined && <strong>{part}</strong>} <code className="small">{path || 'Form'}</code>
            </span>
            <span>{message}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
