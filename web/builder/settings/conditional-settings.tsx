import type { ReactElement, ReactNode } from 'react';
import type { Condition } from '#ast/basics/condition.ts';
import { formLimits } from '#ast/basics/limits.ts';
import type { Confirmation } from '#ast/settings-by-condition.ts';
import { receiptCandidates, type SubmissionNotification } from '#ast/settings-email.ts';
import { ConditionEditor, SentenceText } from '../../conditions/condition-editor.tsx';
import { newCondition, parseConditionTree, toStoredCondition } from '../../conditions/condition-tree.ts';
import { describeOnlyWhen } from '../../conditions/describe-condition.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { FieldHelp, TextArea, TextField } from '../../design/field.tsx';
import { SaveErrorMessage } from '../../design/message.tsx';
import { Select } from '../../design/select.tsx';
import { textOf } from '../model/edit-node.ts';
import { listSettingConditionNodes } from '../model/referable-nodes.ts';
import { EmailWordsFields } from './email-words.tsx';
import { type SettingProps, settingFieldProps, useElementChoices } from './setting-fields.tsx';
import { formatEntryLabel, withEntryText } from './settings-values.ts';

/** The confirmation messages for visitors whose answers meet a condition. */
export function ConfirmationsField({ form }: SettingProps): ReactElement {
  const { settings, set } = form;
  return (
    <ByCondition
      form={form}
      name="confirmations"
      addLabel="Add a confirmation"
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
            label={formatEntryLabel('title', label)}
            value={entry.title ?? ''}
            onChange={(text) => put(withEntryText(entry, 'title', text))}
            isReadOnly={form.isReadOnly}
          />
          <TextArea
            label={formatEntryLabel('message', label)}
            value={entry.message ?? ''}
            onChange={(text) => put({ ...entry, message: text })}
            isReadOnly={form.isReadOnly}
          />
          <TextField
            type="url"
            label={`Redirect URL for ${label}`}
            description="Visitors go there instead. Leave empty to show the message."
            placeholder="https://"
            value={entry.redirect_url ?? ''}
            onChange={(text) => put(withEntryText(entry, 'redirect_url', text))}
            isReadOnly={form.isReadOnly}
          />
        </>
      )}
    </ByCondition>
  );
}

const byAddress = '';

/** Additional emails about a submission, sent always or on a condition. */
export function NotificationsField({ form }: SettingProps): ReactElement {
  const { settings, set } = form;
  const elements = useElementChoices(form.root, undefined, receiptCandidates, 'Email addresses');
  return (
    <ByCondition
      form={form}
      name="notifications"
      addLabel="Add an email"
      entryLabel="email"
      entries={settings.notifications ?? []}
      newEntry={() => ({ to: '' })}
      onChange={(notifications: readonly SubmissionNotification[]) =>
        set({ notifications: notifications.length > 0 ? notifications : undefined })
      }
    >
      {(entry, put, label) => (
        <>
          <Select
            label={`Recipient for ${label}`}
            value={typeof entry.to === 'string' ? byAddress : entry.to.answer}
            choices={elements}
            onChange={(id) =>
              put({ ...entry, to: id === undefined || id === byAddress ? '' : { answer: id } })
            }
            isDisabled={form.isReadOnly}
          />
          {typeof entry.to === 'string' && (
            <TextField
              label={`Addresses for ${label}`}
              inputMode="email"
              value={entry.to}
              onChange={(to) => put({ ...entry, to })}
              isReadOnly={form.isReadOnly}
            />
          )}
          <EmailWordsFields
            form={form}
            kind={typeof entry.to === 'string' ? 'notification' : 'receipt'}
            label={label}
            email={entry}
            isPdfInherited={typeof entry.to !== 'string' && settings.receipt?.attach_pdf === true}
            onChange={put}
          />
        </>
      )}
    </ByCondition>
  );
}

type ListProps<Entry extends { readonly when?: Condition }> = SettingProps & {
  readonly name: 'confirmations' | 'notifications';
  readonly addLabel: string;
  readonly entryLabel: string;
  readonly entries: readonly Entry[];
  /** Whether every entry needs a condition. */
  readonly isConditional?: boolean;
  readonly newEntry: (when: Condition) => Entry;
  readonly onChange: (entries: readonly Entry[]) => void;
  /** The controls of an entry; `label` distinguishes it from the others, such as `email 2`. */
  readonly children: (entry: Entry, put: (entry: Entry) => void, label: string) => ReactNode;
};

/** A setting that is a list whose entries have conditions. The conditions are checked in list order. */
function ByCondition<Entry extends { readonly when?: Condition }>(props: ListProps<Entry>): ReactElement {
  const { form, name, entries, isConditional = false, onChange } = props;
  const { label: title, description, error } = settingFieldProps(form, name);
  const nameable = listSettingConditionNodes(form.root);
  const fresh = newCondition(nameable.at(-1)) as Condition;
  const put = (index: number, entry: Entry): void => onChange(entries.with(index, entry));
  return (
    <fieldset className="field logic-rule">
      <legend className="field-label">{title}</legend>
      <FieldHelp description={description} />
      {entries.map((entry, index) => {
        const label = `${props.entryLabel} ${index + 1}`;
        const capitalised = `${label.slice(0, 1).toUpperCase()}${label.slice(1)}`;
        const group = parseConditionTree(entry.when);
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
                  sentence={describeOnlyWhen(group, (id) =>
                    nameable.find((node) => textOf(node, 'id') === id),
                  )}
                />
              </p>
            )}
            {group && !form.isReadOnly && (
              <ConditionEditor
                group={group}
                nameable={nameable}
                suggested={nameable.at(-1)}
                onChange={(next) => {
                  const { when: _old, ...rest } = entry;
                  if (next) put(index, { ...entry, when: toStoredCondition(next) as Condition });
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
      {!form.isReadOnly && entries.length < formLimits.byCondition && (
        <Button
          size="small"
          icon="add"
          isDisabled={isConditional && nameable.length === 0}
          onPress={() => onChange([...entries, props.newEntry(fresh)])}
        >
          {props.addLabel}
        </Button>
      )}
      {error && <SaveErrorMessage>{error}</SaveErrorMessage>}
    </fieldset>
  );
}
