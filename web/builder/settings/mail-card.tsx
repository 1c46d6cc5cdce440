import { useQuery } from '@tanstack/react-query';
import type { ReactElement, ReactNode } from 'react';
import type { Condition } from '#ast/basics/condition.ts';
import { limits } from '#ast/basics/limits.ts';
import { type Confirmation, type Notification, receiptCandidates } from '#ast/settings-by-condition.ts';
import { ConditionEditor } from '../../conditions/condition-editor.tsx';
import { newCondition, readCondition, writeCondition } from '../../conditions/condition-tree.ts';
import { sayOnlyWhen } from '../../conditions/say-condition.ts';
import { SentenceText } from '../../conditions/sentence-text.tsx';
import { Button, IconButton } from '../../design/button.tsx';
import { FieldNotes, TextArea, TextField } from '../../design/field.tsx';
import { LateProblem, Message } from '../../design/message.tsx';
import { Card } from '../../design/page.tsx';
import { Select } from '../../design/select.tsx';
import { membersQuery } from '../../settings/workspace.ts';
import { useForm } from '../../shell/form-place.ts';
import { type EditNode, textOf } from '../model/edit-node.ts';
import { listAnswered } from '../model/nameable.ts';
import { FlagField, fieldOf, type SettingsForm } from './setting-fields.tsx';
import { digestChoices, sayConfirmationText } from './settings-values.ts';
import { useElementChoices } from './use-element-choices.ts';

type Props = { readonly form: SettingsForm; readonly root: EditNode };

/** What visitors see by their answers: the first whose condition holds, else what everybody sees. */
export function ConfirmationsField({ form, root }: Props): ReactElement {
  const { settings, set } = form;
  return (
    <ByCondition
      form={form}
      root={root}
      name="confirmations"
      description="Of several, the first whose condition holds; else what is said above."
      addLabel="Say something else when …"
      entryLabel="confirmation"
      entries={settings.confirmations ?? []}
      isConditional
      newEntry={(when) => ({ when, message: '' })}
      onChange={(confirmations: readonly Confirmation[]) =>
        set({ confirmations: confirmations.length > 0 ? confirmations : undefined })
      }
    >
      {(entry, put, label) => (
        <>
          <TextField
            label={sayConfirmationText('title', label)}
            value={entry.title ?? ''}
            onChange={(text) => put(withText(entry, 'title', text))}
            isReadOnly={form.isReadOnly}
          />
          <TextArea
            label={sayConfirmationText('message', label)}
            value={entry.message ?? ''}
            onChange={(text) => put({ ...entry, message: text })}
            isReadOnly={form.isReadOnly}
          />
          <TextField
            type="url"
            label={`Address of ${label}`}
            description="Visitors are led there instead. Empty: they see the message."
            placeholder="https://"
            value={entry.redirect_url ?? ''}
            onChange={(text) => put(withText(entry, 'redirect_url', text))}
            isReadOnly={form.isReadOnly}
          />
        </>
      )}
    </ByCondition>
  );
}

/** A text that goes takes what it was in other languages along. */
function withText(entry: Confirmation, name: 'title' | 'redirect_url', text: string): Confirmation {
  const { [name]: _old, ...rest } = entry;
  if (text !== '') return { ...rest, [name]: text };
  const { translations, ...bare } = rest;
  if (!translations || name !== 'title') return rest;
  const left = Object.entries(translations).flatMap(([language, { title: _title, ...texts }]) =>
    Object.keys(texts).length === 0 ? [] : [[language, texts] as const],
  );
  return { ...bare, ...(left.length > 0 && { translations: Object.fromEntries(left) }) };
}

const byAddress = '';

/** Who else hears of a submission: always, or where a condition holds. */
function NotificationsField({ form, root }: Props): ReactElement {
  const { settings, set } = form;
  const elements = useElementChoices(root, undefined, receiptCandidates, 'These addresses');
  return (
    <ByCondition
      form={form}
      root={root}
      name="notifications"
      description="Addresses get the answers; an address that a visitor enters gets a receipt."
      addLabel="Another mail"
      entryLabel="mail"
      entries={settings.notifications ?? []}
      newEntry={() => ({ to: '' })}
      onChange={(notifications: readonly Notification[]) =>
        set({ notifications: notifications.length > 0 ? notifications : undefined })
      }
    >
      {(entry, put, label) => (
        <>
          <Select
            label={`Receiver of ${label}`}
            value={typeof entry.to === 'string' ? byAddress : entry.to.answer}
            choices={elements}
            onChange={(id) =>
              put({ ...entry, to: id === undefined || id === byAddress ? '' : { answer: id } })
            }
            isDisabled={form.isReadOnly}
          />
          {typeof entry.to === 'string' && (
            <TextField
              label={`Addresses of ${label}`}
              inputMode="email"
              autoComplete="off"
              value={entry.to}
              onChange={(to) => put({ ...entry, to })}
              isReadOnly={form.isReadOnly}
            />
          )}
        </>
      )}
    </ByCondition>
  );
}

type ListProps<Entry extends { readonly when?: Condition }> = Props & {
  readonly name: 'confirmations' | 'notifications';
  readonly description: string;
  readonly addLabel: string;
  readonly entryLabel: string;
  readonly entries: readonly Entry[];
  /** Whether there is no entry without a condition. */
  readonly isConditional?: boolean;
  readonly newEntry: (when: Condition) => Entry;
  readonly onChange: (entries: readonly Entry[]) => void;
  /** The controls of an entry; `label` tells it from the others, `mail 2`. */
  readonly children: (entry: Entry, put: (entry: Entry) => void, label: string) => ReactNode;
};

/** A list of the settings whose entries have conditions, in the order in which they are asked. */
function ByCondition<Entry extends { readonly when?: Condition }>(props: ListProps<Entry>): ReactElement {
  const { form, root, name, entries, isConditional = false, onChange } = props;
  const { label: title, error } = fieldOf(form, name);
  const nameable = listAnswered(root);
  const fresh = newCondition(nameable.at(-1)) as Condition;
  const put = (index: number, entry: Entry): void => onChange(entries.with(index, entry));
  return (
    <fieldset className="field logic-rule">
      <legend className="field-label">{title}</legend>
      <FieldNotes description={props.description} />
      {entries.map((entry, index) => {
        const label = `${props.entryLabel} ${index + 1}`;
        const capitalised = `${label.slice(0, 1).toUpperCase()}${label.slice(1)}`;
        const group = readCondition(entry.when);
        return (
          <div key={index} className="logic-rule" role="group" aria-label={capitalised}>
            <div className="spread">
              <strong>{capitalised}</strong>
              {!form.isReadOnly && (
                <div className="row">
                  {index > 0 && (
                    <IconButton
                      icon="chevron-up"
                      size="small"
                      label={`Ask ${label} earlier`}
                      onPress={() =>
                        onChange(entries.with(index - 1, entry).with(index, entries[index - 1]!))
                      }
                    />
                  )}
                  <IconButton
                    icon="remove"
                    size="small"
                    label={`Remove ${label}`}
                    onPress={() => onChange(entries.toSpliced(index, 1))}
                  />
                </div>
              )}
            </div>
            {group && (
              <p className="logic-sentence">
                <SentenceText
                  sentence={sayOnlyWhen(group, (id) => nameable.find((node) => textOf(node, 'id') === id))}
                />
              </p>
            )}
            {group && !form.isReadOnly && (
              <ConditionEditor
                group={group}
                nameable={nameable}
                onChange={(next) => {
                  const { when: _old, ...rest } = entry;
                  if (next) put(index, { ...entry, when: writeCondition(next) as Condition });
                  else if (!isConditional) put(index, rest as Entry);
                }}
              />
            )}
            {!group && !form.isReadOnly && (
              <Button size="small" icon="add" onPress={() => put(index, { ...entry, when: fresh })}>
                Only when …
              </Button>
            )}
            {props.children(entry, (changed) => put(index, changed), label)}
          </div>
        );
      })}
      {!form.isReadOnly && entries.length < limits.byCondition && (
        <Button
          size="small"
          icon="add"
          isDisabled={isConditional && nameable.length === 0}
          onPress={() => onChange([...entries, props.newEntry(fresh)])}
        >
          {props.addLabel}
        </Button>
      )}
      {error && <LateProblem>{error}</LateProblem>}
    </fieldset>
  );
}

/** Who hears of a submission by mail. */
export function MailCard({ form, root }: { form: SettingsForm; root: EditNode }): ReactElement {
  const { settings, set, isReadOnly } = form;
  const receipts = useElementChoices(root, settings.receipt_email_element, receiptCandidates, 'No receipt');
  return (
    <Card title="Mail">
      <TextField
        {...fieldOf(form, 'notification_email')}
        description="Who gets completed submissions by mail. Put commas between several addresses."
        inputMode="email"
        autoComplete="off"
        value={settings.notification_email ?? ''}
        onChange={(text) => set({ notification_email: text })}
        isReadOnly={isReadOnly}
      />
      <Strangers addresses={settings.notification_email ?? ''} />
      <Select
        {...fieldOf(form, 'notification_digest')}
        value={settings.notification_digest ?? 'each'}
        choices={digestChoices}
        onChange={(mode) => set({ notification_digest: mode === 'each' ? undefined : mode })}
        isDisabled={isReadOnly}
      />
      <Select
        {...fieldOf(form, 'receipt_email_element')}
        description="The answer that gets a mail, with the link to change the answers where that is allowed."
        value={settings.receipt_email_element ?? ''}
        choices={receipts}
        onChange={(id) => set({ receipt_email_element: id })}
        isDisabled={isReadOnly}
      />
      <NotificationsField form={form} root={root} />
      {settings.receipt_email_element !== undefined && <FlagField form={form} name="receipt_answers" />}
      {settings.receipt_email_element !== undefined && settings.receipt_answers === true && (
        <Message tone="warn">
          Nobody checks whose address a visitor enters. Whoever fills in the form can have any text of theirs
          mailed to anybody, in your name.
        </Message>
      )}
    </Card>
  );
}

/** Says which addresses are of nobody in the workspace: every submission is mailed there. Nothing is refused. */
function Strangers({ addresses }: { addresses: string }): ReactElement | null {
  const { data: members } = useQuery(membersQuery(useForm().workspace_id));
  const known = new Set(members?.map(({ email }) => email.toLowerCase()));
  const strangers = addresses.split(',').flatMap((text) => {
    const address = /[^\s<>]+@[^\s<>]+\.[^\s<>]+/.exec(text)?.[0];
    return address === undefined || known.has(address.toLowerCase()) ? [] : [address];
  });
  if (!members || strangers.length === 0) return null;
  return (
    <Message tone="warn">
      {strangers.length === 1
        ? `${strangers[0]} is no member of this workspace, and gets`
        : `${strangers.join(', ')} are no members of this workspace, and get`}{' '}
      every submission by mail.
    </Message>
  );
}
