import './invitations.css';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { ApiProblem } from '../api/client.ts';
import { Button } from '../design/button.tsx';
import { Message } from '../design/message.tsx';
import { Card, Page } from '../design/page.tsx';
import { ErrorState, Loading } from '../design/states.tsx';
import { focusUnread } from '../design/unread.ts';
import { toastDone } from '../design/toast.tsx';
import { type LocatedForm, useForm } from '../shell/form-place.ts';
import {
  type Addressee,
  type FormPlace,
  type ImportPreview,
  type ImportSource,
  type InvitationsOverview,
  type LetterPreview,
  letterQuery,
  type MessageBody,
  overviewQuery,
  previewQuery,
  startImport,
} from './invitations-query.ts';
import { PeopleCard } from './people-card.tsx';
import { ScheduleCard } from './schedule-card.tsx';
import { type Draft, messageOf } from './draft.ts';
import { useSettled } from '../design/use-settled.ts';
import { sayCount } from '#ast/say-count.ts';
import { TextArea, TextField } from '../design/field.tsx';

/** The mail as its first reader will see it, without its colours. */
function LetterView({
  preview: { subject, letter },
  to,
}: {
  preview: LetterPreview;
  to: string;
}): ReactElement {
  return (
    <section className="invite-letter" aria-label="Preview of the mail">
      <p>
        <span className="soft small">To {to}</span>
        <br />
        <strong>{subject}</strong>
      </p>
      {letter.blocks.map((block, index) =>
        block.kind === 'button' ? (
          <span key={index} className="invite-letter-button">
            {block.label}
          </span>
        ) : block.kind === 'text' ? (
          <p key={index} className="invite-letter-text">
            {block.text}
          </p>
        ) : null,
      )}
      <p className="soft small">{letter.reason}</p>
    </section>
  );
}

type Props = {
  form: FormPlace;
  draft: Draft;
  onChange: (draft: Draft) => void;
  /** What `{{…}}` may stand for. */
  placeholders: Readonly<Record<string, string>>;
  /** The first who is invited. */
  person: ImportPreview['people'][number] | undefined;
  problem: ApiProblem | undefined;
};

const somebody: Addressee = { email: 'ada@example.org', name: 'Ada Lovelace', reference: {} };

/** What the mail says, and how it looks to the first person. */
function MessageCard({ form, draft, onChange, placeholders, person, problem }: Props): ReactElement {
  const addressee: Addressee = person
    ? { email: person.email, name: person.name, reference: person.reference }
    : somebody;
  const settled = useSettled(draft);
  const { data, error } = useQuery(letterQuery(form, messageOf(settled), addressee));
  const wrong = problem ?? (error instanceof ApiProblem ? error : undefined);
  return (
    <Card title="Message" lead="Kept for the next time you invite.">
      <TextField
        label="Subject"
        value={draft.subject}
        error={wrong?.of('subject')}
        onChange={(subject) => onChange({ ...draft, subject })}
      />
      <TextArea
        label="Text"
        description={`A button with the personal link follows it. ${sayPlaceholders(placeholders, addressee)}`}
        rows={6}
        value={draft.message}
        error={wrong?.of('message')}
        onChange={(message) => onChange({ ...draft, message })}
      />
      {data && !error && <LetterView preview={data} to={addressee.name || addressee.email} />}
    </Card>
  );
}

function sayPlaceholders(placeholders: Props['placeholders'], { reference }: Addressee): string {
  const names = [...Object.keys(placeholders), ...Object.keys(reference)].map((name) => `{{${name}}}`);
  return `You can write ${names.join(', ')}; {{name|friend}} says “friend” to whoever has no name.`;
}

/** Invites people: who, what they are told, and when they are reminded. */
export function InviteScreen(): ReactElement {
  const form = useForm();
  const { data, error, refetch } = useQuery({ ...overviewQuery(form), refetchInterval: false });
  return (
    <Page
      title="Invite people"
      width="narrow"
      lead={
        <Link to="/forms/$form/invitations" params={{ form: form.id }}>
          Back to the invitations
        </Link>
      }
    >
      {error && !data ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : data ? (
        <InviteForm form={form} overview={data} />
      ) : (
        <Loading label="Loading …" />
      )}
    </Page>
  );
}

function InviteForm({ form, overview }: { form: LocatedForm; overview: InvitationsOverview }): ReactElement {
  const navigate = useNavigate();
  const canMail = overview.mails_per_minute !== null;
  const [source, setSource] = useState<ImportSource>({ kind: 'addresses', text: '' });
  const [draft, setDraft] = useState<Draft>(() => ({
    ...overview.message,
    reminderDays: overview.message.remind_after_days.join(', '),
    expires: '',
    isMailed: canMail,
  }));
  const settled = useSettled(source);
  const preview = useQuery({ ...previewQuery(form, settled), enabled: settled.text.trim() !== '' });
  const isCurrent = settled === source && !preview.isFetching && !preview.error && source.text.trim() !== '';
  const total = isCurrent ? (preview.data?.total ?? 0) : 0;
  const message: MessageBody = messageOf(draft);
  const start = useMutation({
    mutationFn: () => startImport(form, source, message),
    onSuccess(started) {
      toastDone(
        started.total === 1
          ? '1 person is being invited.'
          : `${started.total.toLocaleString()} people are being invited.`,
      );
      void navigate({ to: '/forms/$form/invitations', params: { form: form.id } });
    },
  });
  const problem = start.error instanceof ApiProblem ? start.error : undefined;
  return (
    <>
      <PeopleCard
        source={source}
        onChange={setSource}
        questions={overview.questions}
        preview={isCurrent || preview.isFetching ? preview.data : undefined}
        problem={settled === source ? preview.error?.message : undefined}
      />
      <MessageCard
        form={form}
        draft={draft}
        onChange={setDraft}
        placeholders={overview.placeholders}
        person={preview.data?.people[0]}
        problem={problem}
      />
      <ScheduleCard draft={draft} onChange={setDraft} canMail={canMail} problem={problem} />
      {start.error && (
        <Message tone="bad" title="Nobody was invited">
          {start.error.message} {problem?.of('text')}
        </Message>
      )}
      <div className="row">
        <Button
          variant="primary"
          icon={draft.isMailed ? 'send' : 'link'}
          isDisabled={total === 0}
          isPending={start.isPending}
          onPress={() => focusUnread() || start.mutate()}
        >
          {sayInvite(total, draft.isMailed)}
        </Button>
      </div>
    </>
  );
}

function sayInvite(total: number, isMailed: boolean): string {
  const people = sayCount(total, 'person', 'people');
  if (total === 0) return isMailed ? 'Send invitations' : 'Make links';
  return isMailed ? `Send invitations to ${people}` : `Make links for ${people}`;
}
