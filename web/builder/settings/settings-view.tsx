import './settings-view.css';
import { type ReactElement, type ReactNode, useState } from 'react';
import type { SettingName, Settings } from '#ast/settings.ts';
import { RadioGroup } from '../../design/checkbox.tsx';
import { TextArea, TextField } from '../../design/field.tsx';
import { Card } from '../../design/page.tsx';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import type { EditNode } from '../model/edit-node.ts';
import { InsertAnswer } from '../panel/formula-input.tsx';
import { ConfirmationsField, MailCard } from './mail-card.tsx';
import {
  CountField,
  FlagField,
  fieldOf,
  PasswordField,
  ProblemLink,
  SearchCard,
  type SettingsChange,
  type SettingsForm,
} from './setting-fields.tsx';
import { accessChoices, fromLocal, layoutChoices, type SettingProblem, toLocal } from './settings-values.ts';

/** Who may fill the form in, from when until when, and how often. `password` sets the one that may be asked for. */
function AccessCard({ form, password }: { form: SettingsForm; password: ReactNode }): ReactElement {
  const { settings, set, isReadOnly } = form;
  const access = settings.access ?? 'public';
  return (
    <Card title="Who and when">
      <RadioGroup
        {...fieldOf(form, 'access')}
        choices={accessChoices}
        value={access}
        onChange={(next) => set({ access: next })}
        isDisabled={isReadOnly}
      />
      {access === 'password' && password}
      <div className="settings-pair">
        <TextField
          type="datetime-local"
          {...fieldOf(form, 'opens_at')}
          description="In your time zone."
          value={toLocal(settings.opens_at)}
          onChange={(text) => set({ opens_at: fromLocal(text) })}
          isReadOnly={isReadOnly}
        />
        <TextField
          type="datetime-local"
          {...fieldOf(form, 'closes_at')}
          description="In your time zone."
          value={toLocal(settings.closes_at)}
          onChange={(text) => set({ closes_at: fromLocal(text) })}
          isReadOnly={isReadOnly}
        />
      </div>
      <CountField
        form={form}
        name="max_submissions"
        description="Once there are so many, the form closes. Empty: no limit."
      />
      <TextArea
        {...fieldOf(form, 'closed_message')}
        description="What visitors read before it opens, after it closed, or when it is full."
        value={settings.closed_message ?? ''}
        onChange={(text) => set({ closed_message: text })}
        isReadOnly={isReadOnly}
      />
    </Card>
  );
}

/** What happens once a submission was sent. */
function AfterCard({ form, root }: { form: SettingsForm; root: EditNode }): ReactElement {
  const { settings, set, isReadOnly } = form;
  return (
    <Card title="After a submission">
      <InsertAnswer
        isOfPart={false}
        onInsert={(placeholder) =>
          set({ confirmation_message: `${settings.confirmation_message ?? ''}${placeholder}` })
        }
      >
        <TextArea
          {...fieldOf(form, 'confirmation_message')}
          description="What visitors read when they are done."
          value={settings.confirmation_message ?? ''}
          onChange={(text) => set({ confirmation_message: text })}
          isReadOnly={isReadOnly}
        />
      </InsertAnswer>
      <TextField
        type="url"
        {...fieldOf(form, 'redirect_url')}
        description="An https address that visitors are led to instead. The number of the receipt is added as “receipt”."
        placeholder="https://"
        value={settings.redirect_url ?? ''}
        onChange={(text) => set({ redirect_url: text })}
        isReadOnly={isReadOnly}
      />
      <ConfirmationsField form={form} root={root} />
    </Card>
  );
}

/** What keeps machines out. A field that only machines fill in is on every page in any case. */
function SpamCard({ form }: { form: SettingsForm }): ReactElement {
  return (
    <Card
      title="Spam protection"
      lead="No third party is asked. What looks like spam goes to the spam box, from where you can release it."
    >
      <div className="settings-pair">
        <CountField
          form={form}
          name="min_seconds"
          description="Who fills in the form's page quicker is taken for a machine. Posts from your own page or program have no such time. Empty: nobody is."
        />
        <CountField
          form={form}
          name="limit_per_address"
          description="More submissions are refused for a while. Empty: no limit."
        />
        <CountField
          form={form}
          name="limit_per_form"
          description="More submissions are refused for a while. Empty: no limit."
        />
      </div>
      <FlagField
        form={form}
        name="proof_of_work"
        description="The visitor's browser computes for about a second. Without script, and from a page or program of your own, submissions go to the spam box, unless your site is named under Embedding."
      />
    </Card>
  );
}

/** Going on later, and changing what was sent. */
function ProgressCard({ form }: { form: SettingsForm }): ReactElement {
  const { settings } = form;
  return (
    <Card title="Going on and changing">
      <FlagField
        form={form}
        name="save_progress"
        description="Answers are kept while they are given, and a link leads back to them, also on another device. They count as incomplete until they are sent."
      />
      {(settings.save_progress || form.error('resume_days')) && (
        <CountField
          form={form}
          name="resume_days"
          description="The link works so long after the last answer. Empty: 30."
        />
      )}
      <FlagField
        form={form}
        name="editing"
        description="Whoever sent answers gets a link to change them. Webhooks for “Updated” hear of each change."
      />
      {(settings.editing || form.error('edit_days')) && (
        <CountField
          form={form}
          name="edit_days"
          description="The link works so long after the submission. Empty: 365."
        />
      )}
    </Card>
  );
}

/** Whose pages may show the form inside them, and send it from a page of their own (docs/embedding.md). */
function EmbedCard({ form }: { form: SettingsForm }): ReactElement {
  const listed = form.settings.embed_origins?.join('\n') ?? '';
  // The text as it is written: a line that is still empty is no origin, and must stay to be written on. Undo and other
  // editors change the list behind it; then what was written is over.
  const [written, setWritten] = useState(listed);
  const text = originsIn(written).join('\n') === listed ? written : listed;
  const change = (next: string): void => {
    setWritten(next);
    const origins = originsIn(next);
    form.set({ embed_origins: origins.length > 0 ? origins : undefined });
  };
  return (
    <Card title="Embedding">
      <TextArea
        {...fieldOf(form, 'embed_origins')}
        description="One origin a line, like https://example.com or https://*.example.com: these alone may embed the form or post to it from their pages, and spam protection asks nothing else of what they send. Empty: any site may embed and post."
        placeholder="https://example.com"
        value={text}
        onChange={change}
        isReadOnly={form.isReadOnly}
      />
    </Card>
  );
}

const originsIn = (text: string): string[] => text.split(/\s+/).filter((line) => line !== '');

/** How the form asks: by steps or question by question, and whether it shows all answers before they are sent. */
function AskingCard({ form }: { form: SettingsForm }): ReactElement {
  return (
    <Card title="Asking">
      <RadioGroup
        {...fieldOf(form, 'layout')}
        choices={layoutChoices}
        value={form.settings.layout ?? 'page'}
        onChange={(layout) => form.set({ layout: layout === 'page' ? undefined : layout })}
        isDisabled={form.isReadOnly}
      />
      <FlagField
        form={form}
        name="review_step"
        description="A last step lists every question with its answer, and leads back to each. The answers are sent from there."
      />
    </Card>
  );
}

type SettingsProps = {
  readonly hasPassword: boolean;
  readonly problems: readonly SettingProblem[];
  readonly setPassword: (password: string) => Promise<void>;
};

/** All settings of the form but those of its theme: part of the working copy, as its elements are. */
export function SettingsView({ hasPassword, problems, setPassword }: SettingsProps): ReactElement {
  const { editor, isReadOnly } = useBuilder();
  const { root, settings } = useEditorState(editor).history.present;
  const own = problems.filter(({ view }) => view === 'settings');
  // Of a list, a problem names the entry: `confirmations.0.when`.
  const error = (name: SettingName): string | undefined =>
    own.find(({ field }) => field === name || (name !== 'theme' && field.startsWith(`${name}.`)))?.message;
  const set = (change: SettingsChange): void =>
    editor.changeSettings(
      (now) =>
        Object.fromEntries(
          Object.entries({ ...now, ...change }).filter(([, value]) => value !== undefined && value !== ''),
        ) as Settings,
      `settings ${Object.keys(change).join()}`,
    );
  const form: SettingsForm = { settings, set, error, isReadOnly };
  return (
    <div className="builder-page">
      <form className="stack" aria-label="Settings" onSubmit={(event) => event.preventDefault()}>
        <div className="settings-head">
          <div>
            <h2>Settings</h2>
            <p className="soft">
              Saved as you change them, with the form. They hold once you publish. A password holds at once.
            </p>
          </div>
          <ProblemLink problems={own} />
        </div>
        <AccessCard
          form={form}
          password={
            <PasswordField
              hasPassword={hasPassword}
              error={error('password')}
              isReadOnly={isReadOnly}
              setPassword={setPassword}
            />
          }
        />
        <AskingCard form={form} />
        <AfterCard form={form} root={root} />
        <MailCard form={form} root={root} />
        <ProgressCard form={form} />
        <SpamCard form={form} />
        <EmbedCard form={form} />
        <SearchCard form={form} root={root} />
      </form>
    </div>
  );
}
