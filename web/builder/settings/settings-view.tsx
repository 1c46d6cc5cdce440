import './settings-view.css';
import type { ReactElement } from 'react';
import { subjectCandidates } from '#ast/searchable.ts';
import type { SettingName, Settings } from '#ast/settings.ts';
import { receiptCandidates } from '#ast/settings-email.ts';
import { settingCards } from '#ast/settings-kinds.ts';
import { settingNames, settingRow } from '#ast/settings-table.ts';
import { Card } from '../../design/page.tsx';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { isQuiz } from '../model/edit-node.ts';
import { InsertAnswerMenu } from '../panel/formula-input.tsx';
import { ConfirmationsField, NotificationsField } from './conditional-settings.tsx';
import { ReceiptField } from './email-words.tsx';
import {
  AllowedSitesField,
  ElementField,
  FormPasswordField,
  NotificationEmailField,
  ReceiptAnswersField,
  SettingField,
  SettingProblemsLink,
  type SettingProps,
  type SettingsChange,
  type SettingsEditor,
  SlugField,
  TimeZoneField,
} from './setting-fields.tsx';
import type { SettingProblem } from './settings-values.ts';

/** Settings that need a special control instead of the one for their kind. */
const customFields: Partial<Record<SettingName, (props: SettingProps) => ReactElement | null>> = {
  slug: SlugField,
  password: FormPasswordField,
  one_per_respondent: ({ form }) =>
    form.settings.access === 'organisation' || form.error('one_per_respondent') ? (
      <SettingField form={form} name="one_per_respondent" />
    ) : null,
  confirmation_message: ConfirmationMessageField,
  confirmations: ConfirmationsField,
  notifications: NotificationsField,
  notification_email: NotificationEmailField,
  receipt_email_element: ({ form }) => (
    <ElementField
      form={form}
      name="receipt_email_element"
      candidatesOf={receiptCandidates}
      none="No receipt"
    />
  ),
  receipt_answers: ReceiptAnswersField,
  receipt: ReceiptField,
  quiz_results: ({ form }) =>
    isQuiz(form.root) || form.error('quiz_results') ? <SettingField form={form} name="quiz_results" /> : null,
  certificate_name_element: ({ form }) =>
    isQuiz(form.root) || form.error('certificate_name_element') ? (
      <ElementField
        form={form}
        name="certificate_name_element"
        candidatesOf={subjectCandidates}
        none="No certificate"
      />
    ) : null,
  subject_element: ({ form }) => (
    <ElementField form={form} name="subject_element" candidatesOf={subjectCandidates} none="Automatic" />
  ),
  time_zone: TimeZoneField,
  embed_origins: AllowedSitesField,
};

function ConfirmationMessageField({ form }: SettingProps): ReactElement {
  const { confirmation_message: message = '' } = form.settings;
  return (
    <InsertAnswerMenu
      isOfPart={false}
      onInsert={(placeholder) => form.set({ confirmation_message: `${message}${placeholder}` })}
    >
      <SettingField form={form} name="confirmation_message" />
    </InsertAnswerMenu>
  );
}

/** The settings of each card. Half-width settings are in one group. */
const cards = Object.entries(settingCards).map(([id, card]) => {
  const names = settingNames
    .filter((name) => settingRow(name).card === id)
    .toSorted((one, other) => (settingRow(one).order ?? 0) - (settingRow(other).order ?? 0));
  const groups: SettingName[][] = [];
  for (const name of names) {
    const group = groups.at(-1);
    if (group && settingRow(name).isHalf && settingRow(group[0]!).isHalf) group.push(name);
    else groups.push([name]);
  }
  return { id, card, groups };
});

function Setting({ form, name }: SettingProps & { readonly name: SettingName }): ReactElement | null {
  const { shownWith } = settingRow(name);
  if (shownWith !== undefined && !form.settings[shownWith as SettingName] && !form.error(name)) return null;
  const Field = customFields[name];
  return Field ? <Field form={form} /> : <SettingField form={form} name={name} />;
}

type SettingsProps = {
  readonly hasPassword: boolean;
  readonly problems: readonly SettingProblem[];
  readonly setPassword: (password: string) => Promise<void>;
};

/** All settings of the form except its theme and translations. They are part of the working copy, like its elements. */
export function SettingsView({ hasPassword, problems, setPassword }: SettingsProps): ReactElement {
  const { editor, isReadOnly } = useBuilder();
  const { root, settings } = useEditorState(editor).history.present;
  const own = problems.filter(({ view }) => view === 'settings');
  // The problem of a list names its entry: `confirmations.0.when`.
  const error = (name: SettingName): string | undefined =>
    own.find(({ field }) => field === name || field.startsWith(`${name}.`))?.message;
  const set = (change: SettingsChange): void =>
    editor.changeSettings(
      (now) =>
        Object.fromEntries(
          Object.entries({ ...now, ...change }).filter(([, value]) => value !== undefined && value !== ''),
        ) as Settings,
      `settings ${Object.keys(change).join()}`,
    );
  const form: SettingsEditor = { root, settings, set, error, isReadOnly, hasPassword, setPassword };
  return (
    <div className="builder-page">
      <form className="stack" aria-label="Settings" onSubmit={(event) => event.preventDefault()}>
        <div className="settings-head">
          <div>
            <h2>Settings</h2>
            <p className="soft">
              Changes are saved with the form and take effect when you publish. A password takes effect
              immediately.
            </p>
          </div>
          <SettingProblemsLink problems={own} />
        </div>
        {cards.map(({ id, card, groups }) => (
          <Card key={id} {...card}>
            {groups.map((names) =>
              settingRow(names[0]!).isHalf ? (
                <div key={names[0]} className="settings-pair">
                  {names.map((name) => (
                    <Setting key={name} form={form} name={name} />
                  ))}
                </div>
              ) : (
                <Setting key={names[0]} form={form} name={names[0]!} />
              ),
            )}
          </Card>
        ))}
      </form>
    </div>
  );
}
