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

/** Edits conditional confirmations: the first one whose condition is true is shown, otherwise the default. */
export function ConfirmationsField({ form, root }: Props): ReactElement {
  const { settings, set } = form;
  return (
    <ByCondition
      form={form}
      root={root}
      name="confirmations"
      description="The first match is shown. If none matches, visitors see the message above."
      addLabel="Add conditional confirmation"
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
            label={`Redirect URL of ${label}`}
            description="Sends visitors here instead. Leave empty to show the message."
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

/** Removes a text together with its translations. */
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

/** Edits further recipients of submissions: always, or if a condition is true. */
function NotificationsField({ form, root }: Props): ReactElement {
  const { settings, set } = form;
  const elements = useElementChoices(root, undefined, receiptCandidates, 'Email addresses');
  return (
    <ByCondition
      form={form}
      root={root}
      name="notifications"
      description="Email addresses receive the answers. A visitor’s address receives a receipt."
      addLabel="Add email"
      entryLabel="email"
      entries={settings.notifications ?? []}
      newEntry={() => ({ to: '' })}
      onChange={(notifications: readonly Notification[]) =>
        set({ notifications: notifications.length > 0 ? notifications : undefined })
      }
    >
      {(entry, put, label) => (
        <>
          <Select
            label={`Recipient of ${label}`}
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
  /** Whether every entry needs a condition. */
  readonly isConditional?: boolean;
  readonly newEntry: (when: Condition) => Entry;
  readonly onChange: (entries: readonly Entry[]) => void;
  /** The controls of an entry. `label` distinguishes it from the others: `mail 2`. */
  readonly children: (entry: Entry, put: (entry: Entry) => void, label: string) => ReactNode;
};

/** Edits a list of settings with conditions, in the order in which they are checked. */
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
                      label={`Move ${label} up`}
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
                Add condition
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

/** The emails about a submission. */
export function MailCard({ form, root }: { form: SettingsForm; root: EditNode }): ReactElement {
  const { settings, set, isReadOnly } = form;
  const receipts = useElementChoices(root, settings.receipt_email_element, receiptCandidates, 'No receipt');
  return (
    <Card title="Mail">
      <TextField
        {...fieldOf(form, 'notification_email')}
        description="Sends completed submissions to these addresses. Separate several addresses with commas."
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
        description="Sends a receipt to the address in this answer, with an edit link if editing is allowed."
        value={settings.receipt_email_element ?? ''}
        choices={receipts}
        onChange={(id) => set({ receipt_email_element: id })}
        isDisabled={isReadOnly}
      />
      <NotificationsField form={form} root={root} />
      {settings.receipt_email_element !== undefined && <FlagField form={form} name="receipt_answers" />}
      {settings.receipt_email_element !== undefined && settings.receipt_answers === true && (
        <Message tone="warn">
          Email addresses are not verified. Anyone who fills in the form can send their own text to any
          address, in your name.
        </Message>
      )}
    </Card>
  );
}

/**
 * Warns about addresses that belong to no member, because each receives every submission. Accepts them
 * anyway.
 */
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
        ? `${strangers[0]} is not a member of this workspace and receives`
        : `${strangers.join(', ')} are not members of this workspace and receive`}{' '}
      every submission by email.
    </Message>
  );
}
