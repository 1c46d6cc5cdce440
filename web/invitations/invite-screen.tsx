import './invitations.css';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { formatCount } from '#ast/basics/format-number.ts';
import { ApiProblem } from '../api/client.ts';
import { callOperation } from '../api/operations.ts';
import { useAction } from '../design/action.tsx';
import { Button } from '../design/button.tsx';
import { Switch } from '../design/checkbox.tsx';
import { TextArea, TextField } from '../design/field.tsx';
import { Message } from '../design/message.tsx';
import { Card, Page } from '../design/page.tsx';
import { QueryState } from '../design/states.tsx';
import { focusUnreadableInput } from '../design/unreadable-input.ts';
import { useDebounced } from '../design/use-debounced.ts';
import { type LocatedForm, useCurrentForm } from '../shell/session.ts';
import {
  type Addressee,
  type EmailPreview,
  emailPreviewQuery,
  type FormLocation,
  type InvitationImportInput,
  type InvitationImportPreview,
  type InvitationMessageSettings,
  type InvitationsOverview,
  importPreviewQuery,
  invitationsOverviewQuery,
} from './invitations-query.ts';
import { InviteesCard } from './people-card.tsx';

type Draft = Omit<InvitationsOverview['message'], 'remind_after_days'> & {
  /** Numbers of days, separated by commas. */
  reminderDays: string;
  /** A day in the format of `<input type="date">`; '' if links do not expire. */
  expires: string;
  isMailed: boolean;
};

/**
 * Converts the fields to the format of the API. An invalid number of days becomes 0, so that the API reports
 * the error.
 */
function messageOf(draft: Draft): InvitationMessageSettings {
  const days = draft.reminderDays.trim();
  return {
    subject: draft.subject,
    message: draft.message,
    ...(draft.reminder_subject && { reminder_subject: draft.reminder_subject }),
    ...(draft.reminder_message && { reminder_message: draft.reminder_message }),
    remind_after_days:
      days === '' ? [] : days.split(/[\s,;]+/).map((day) => (/^\d{1,3}$/.test(day) ? Number(day) : 0)),
    // The link works until that day ends in the member's time zone.
    ...(draft.expires !== '' && { expires_at: new Date(`${draft.expires}T23:59:59`).toISOString() }),
    send: draft.isMailed,
  };
}

type ScheduleProps = {
  draft: Draft;
  onChange: (draft: Draft) => void;
  canMail: boolean;
  problem: ApiProblem | undefined;
};

/** Settings for whether emails are sent, when reminders follow, and until when the links work. */
function ScheduleCard({ draft, onChange, canMail, problem }: ScheduleProps): ReactElement {
  const reminds = draft.isMailed && draft.reminderDays.trim() !== '';
  return (
    <Card title="Sending">
      <Switch
        isSelected={draft.isMailed}
        isDisabled={!canMail}
        onChange={(isMailed) => onChange({ ...draft, isMailed })}
        description={
          canMail
            ? 'Turn off to share the links yourself.'
            : 'Email is not set up. Copy or download the links instead.'
        }
      >
        Email the invitations
      </Switch>
      <div className="invite-pair">
        <TextField
          label="Links work until"
          description="Leave empty for no end date."
          type="date"
          value={draft.expires}
          error={problem?.of('expires_at')}
          onChange={(expires) => onChange({ ...draft, expires })}
        />
        {draft.isMailed && (
          <TextField
            label="Reminders after (days)"
            description="For example 3, 7. Only people who have not answered are reminded."
            value={draft.reminderDays}
            error={problem?.of('remind_after_days')}
            onChange={(reminderDays) => onChange({ ...draft, reminderDays })}
          />
        )}
      </div>
      {reminds && (
        <>
          <TextField
            label="Reminder subject"
            description="Leave empty for “Reminder:” and the subject above."
            value={draft.reminder_subject ?? ''}
            error={problem?.of('reminder_subject')}
            onChange={(text) => onChange({ ...draft, reminder_subject: text })}
          />
          <TextArea
            label="Reminder text"
            description="Leave empty to repeat the text above."
            rows={4}
            value={draft.reminder_message ?? ''}
            error={problem?.of('reminder_message')}
            onChange={(text) => onChange({ ...draft, reminder_message: text })}
          />
        </>
      )}
    </Card>
  );
}

/** The email as its first recipient sees it, but without colors. */
function EmailPreviewCard({
  preview: { subject, letter },
  to,
}: {
  preview: EmailPreview;
  to: string;
}): ReactElement {
  return (
    <section className="invite-letter" aria-label="Email preview">
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
  form: FormLocation;
  draft: Draft;
  onChange: (draft: Draft) => void;
  /** The names that `{{…}}` can use. */
  placeholders: Readonly<Record<string, string>>;
  /** The first person in the list. */
  person: InvitationImportPreview['people'][number] | undefined;
  problem: ApiProblem | undefined;
};

const somebody: Addressee = { email: 'ada@example.org', name: 'Ada Lovelace', reference: {} };

/** Edits the email and previews it for the first person. */
function MessageCard({ form, draft, onChange, placeholders, person, problem }: Props): ReactElement {
  const addressee: Addressee = person
    ? { email: person.email, name: person.name, reference: person.reference }
    : somebody;
  const settled = useDebounced(draft);
  const { data, error } = useQuery(emailPreviewQuery(form, messageOf(settled), addressee));
  const wrong = problem ?? (error instanceof ApiProblem ? error : undefined);
  return (
    <Card title="Message" lead="Saved for the next time you invite people.">
      <TextField
        label="Subject"
        value={draft.subject}
        error={wrong?.of('subject')}
        onChange={(subject) => onChange({ ...draft, subject })}
      />
      <TextArea
        label="Text"
        description={`A button with the personal link follows the text. ${describePlaceholders(placeholders, addressee)}`}
        rows={6}
        value={draft.message}
        error={wrong?.of('message')}
        onChange={(message) => onChange({ ...draft, message })}
      />
      {data && !error && <EmailPreviewCard preview={data} to={addressee.name || addressee.email} />}
    </Card>
  );
}

function describePlaceholders(placeholders: Props['placeholders'], { reference }: Addressee): string {
  const names = [...Object.keys(placeholders), ...Object.keys(reference)].map((name) => `{{${name}}}`);
  return `You can use ${names.join(', ')}. {{name|friend}} shows “friend” if the name is missing.`;
}

/** Lets a member invite people: who, with which message, and when they are reminded. */
export function InviteScreen(): ReactElement {
  const form = useCurrentForm();
  const overview = useQuery({ ...invitationsOverviewQuery(form), refetchInterval: false });
  return (
    <Page
      title="Invite people"
      width="narrow"
      lead={
        <Link to="/forms/$form/invitations" params={{ form: form.id }}>
          Back to invitations
        </Link>
      }
    >
      <QueryState query={overview} label="Loading…">
        {(data) => <InviteForm form={form} overview={data} />}
      </QueryState>
    </Page>
  );
}

function InviteForm({ form, overview }: { form: LocatedForm; overview: InvitationsOverview }): ReactElement {
  const navigate = useNavigate();
  const canMail = overview.mails_per_minute !== null;
  const [source, setSource] = useState<InvitationImportInput>({ kind: 'addresses', text: '' });
  const [draft, setDraft] = useState<Draft>(() => ({
    ...overview.message,
    reminderDays: overview.message.remind_after_days.join(', '),
    expires: '',
    isMailed: canMail,
  }));
  const settled = useDebounced(source);
  const preview = useQuery({ ...importPreviewQuery(form, settled), enabled: settled.text.trim() !== '' });
  const isCurrent = settled === source && !preview.isFetching && !preview.error && source.text.trim() !== '';
  const total = isCurrent ? (preview.data?.total ?? 0) : 0;
  const message: InvitationMessageSettings = messageOf(draft);
  const start = useAction({
    run: () =>
      callOperation(form.workspace_id, 'startInvitationImport', {
        params: { id: form.id },
        body: { ...source, ...message },
      }),
    done: ({ total: started }) =>
      started === 1 ? '1 person is being invited.' : `${started.toLocaleString()} people are being invited.`,
    onDone: () => navigate({ to: '/forms/$form/invitations', params: { form: form.id } }),
  });
  const problem = start.error instanceof ApiProblem ? start.error : undefined;
  return (
    <>
      <InviteesCard
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
        <Message tone="bad" title="No invitations were created">
          {start.error.message} {start.of('text')}
        </Message>
      )}
      <div className="row">
        <Button
          variant="primary"
          icon={draft.isMailed ? 'send' : 'link'}
          isDisabled={total === 0}
          isPending={start.isPending}
          onPress={() => focusUnreadableInput() || start.mutate()}
        >
          {inviteButtonLabel(total, draft.isMailed)}
        </Button>
      </div>
    </>
  );
}

function inviteButtonLabel(total: number, isMailed: boolean): string {
  const people = formatCount(total, 'person', 'people');
  if (total === 0) return isMailed ? 'Send invitations' : 'Create links';
  return isMailed ? `Send invitations to ${people}` : `Create links for ${people}`;
}
