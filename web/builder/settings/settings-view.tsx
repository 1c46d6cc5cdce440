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

/** Edits who can fill in the form, when, and how often. `password` is the field for the password. */
function AccessCard({ form, password }: { form: SettingsForm; password: ReactNode }): ReactElement {
  const { settings, set, isReadOnly } = form;
  const access = settings.access ?? 'public';
  return (
    <Card title="Access and limits">
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
        description="The form closes after this many submissions. Leave empty for no limit."
      />
      <TextArea
        {...fieldOf(form, 'closed_message')}
        description="Shown before the form opens, after it closes, or when it is full."
        value={settings.closed_message ?? ''}
        onChange={(text) => set({ closed_message: text })}
        isReadOnly={isReadOnly}
      />
    </Card>
  );
}

/** What happens after a submission. */
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
          description="Shown to visitors after they submit."
          value={settings.confirmation_message ?? ''}
          onChange={(text) => set({ confirmation_message: text })}
          isReadOnly={isReadOnly}
        />
      </InsertAnswer>
      <TextField
        type="url"
        {...fieldOf(form, 'redirect_url')}
        description="Sends visitors to this https address instead. The receipt number is added as “receipt”."
        placeholder="https://"
        value={settings.redirect_url ?? ''}
        onChange={(text) => set({ redirect_url: text })}
        isReadOnly={isReadOnly}
      />
      <ConfirmationsField form={form} root={root} />
    </Card>
  );
}

/** Protection against bots. Every page also has a field that only bots fill in. */
function SpamCard({ form }: { form: SettingsForm }): ReactElement {
  return (
    <Card
      title="Spam protection"
      lead="No third-party services are used. Suspected spam goes to the spam box, where you can release it."
    >
      <div className="settings-pair">
        <CountField
          form={form}
          name="min_seconds"
          description="Faster submissions are treated as spam. This does not apply to submissions from your own page or program. Leave empty to turn off."
        />
        <CountField
          form={form}
          name="limit_per_address"
          description="Further submissions are rejected for a while. Leave empty for no limit."
        />
        <CountField
          form={form}
          name="limit_per_form"
          description="Further submissions are rejected for a while. Leave empty for no limit."
        />
      </div>
      <FlagField
        form={form}
        name="proof_of_work"
        description="The visitor’s browser works for about a second. Submissions without JavaScript, or from a page or program of yours, go to the spam box unless your site is listed under Embedding."
      />
    </Card>
  );
}

/** Resuming later, and editing a submission. */
function ProgressCard({ form }: { form: SettingsForm }): ReactElement {
  const { settings } = form;
  return (
    <Card title="Save and edit">
      <FlagField
        form={form}
        name="save_progress"
        description="Visitors can save unfinished answers and resume later through a link, also on another device. These submissions count as incomplete until they are sent."
      />
      {(settings.save_progress || form.error('resume_days')) && (
        <CountField
          form={form}
          name="resume_days"
          description="How many days the link works after the last answer. Leave empty for 30."
        />
      )}
      <FlagField
        form={form}
        name="editing"
        description="Visitors get a link to edit their submission. Each edit triggers webhooks for “Updated”."
      />
      {(settings.editing || form.error('edit_days')) && (
        <CountField
          form={form}
          name="edit_days"
          description="How many days the link works after the submission. Leave empty for 365."
        />
      )}
    </Card>
  );
}

/** The sites that can embed the form, or submit it from their pages (docs/embedding.md). */
function EmbedCard({ form }: { form: SettingsForm }): ReactElement {
  const listed = form.settings.embed_origins?.join('\n') ?? '';
  // The text as typed, so that an empty line, which is no origin, stays editable. If undo or another editor
  // changes the list, the typed text is discarded.
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
        description="One site per line, such as https://example.com or https://*.example.com. Only these sites can embed the form or submit it from their pages. Their submissions skip the time and proof-of-work checks. Leave empty to allow all sites."
        placeholder="https://example.com"
        value={text}
        onChange={change}
        isReadOnly={form.isReadOnly}
      />
    </Card>
  );
}

const originsIn = (text: string): string[] => text.split(/\s+/).filter((line) => line !== '');

/** The layout: by step or by question, and whether a review step comes last. */
function AskingCard({ form }: { form: SettingsForm }): ReactElement {
  return (
    <Card title="Layout">
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
        description="Adds a last step where visitors check and edit all their answers before they submit."
      />
    </Card>
  );
}

type SettingsProps = {
  readonly hasPassword: boolean;
  readonly problems: readonly SettingProblem[];
  readonly setPassword: (password: string) => Promise<void>;
};

/** All settings of the form except its theme. They belong to the working copy, like its elements. */
export function SettingsView({ hasPassword, problems, setPassword }: SettingsProps): ReactElement {
  const { editor, isReadOnly } = useBuilder();
  const { root, settings } = useEditorState(editor).history.present;
  const own = problems.filter(({ view }) => view === 'settings');
  // A problem in a list includes the index of the entry: `confirmations.0.when`.
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
              Saved with the form as you edit. Changes go live when you publish. A password applies
              immediately.
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
