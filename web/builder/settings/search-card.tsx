import { type ReactElement, useMemo } from 'react';
import { type Language, languages } from '#ast/languages.ts';
import { subjectCandidates } from '#ast/searchable.ts';
import { Card } from '../../design/page.tsx';
import { Select } from '../../design/select.tsx';
import type { EditNode } from '../model/edit-node.ts';
import { FlagField, fieldOf, type SettingsForm } from './setting-fields.tsx';
import { useElementChoices } from './use-element-choices.ts';

const languageChoices = (Object.keys(languages) as Language[]).map((id) => ({
  id,
  label: id === 'simple' ? 'Any language, words as they are' : `${id.charAt(0).toUpperCase()}${id.slice(1)}`,
}));

/** How submissions are found and named, which day it is for them, and whether visits are counted. */
export function SearchCard({ form, root }: { form: SettingsForm; root: EditNode }): ReactElement {
  const { settings, set, isReadOnly } = form;
  const subjects = useElementChoices(
    root,
    settings.subject_element,
    subjectCandidates,
    'By itself: the element “subject”, else the first short text',
  );
  const zones = useMemo(() => timeZoneChoices(settings.time_zone), [settings.time_zone]);
  return (
    <Card title="Search, time and visits">
      <Select
        {...fieldOf(form, 'subject_element')}
        description="The answer that weighs most in search, and names a submission."
        value={settings.subject_element ?? ''}
        choices={subjects}
        onChange={(id) => set({ subject_element: id === '' ? undefined : id })}
        isDisabled={isReadOnly}
      />
      <Select
        {...fieldOf(form, 'language')}
        description="Search finds other forms of a word in this language."
        value={settings.language ?? 'english'}
        choices={languageChoices}
        onChange={(language) => set({ language })}
        isDisabled={isReadOnly}
      />
      <Select
        {...fieldOf(form, 'time_zone')}
        description="Decides which day is “today” for limits on dates and for conditions, and the days of the summary of visits."
        value={settings.time_zone ?? ''}
        choices={zones}
        onChange={(zone) => set({ time_zone: zone })}
        isDisabled={isReadOnly}
      />
      <FlagField
        form={form}
        name="analytics"
        isOn
        description="The summary shows how many saw the page, began and sent it, and where the others left. Only sums are kept: no cookie, no address, nothing of any one visit."
      />
    </Card>
  );
}

/** The zones that this browser knows; the one that is set is among them in any case. */
function timeZoneChoices(chosen: string | undefined): readonly { id: string; label: string }[] {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const names = new Set(['UTC', own, ...(chosen ? [chosen] : []), ...Intl.supportedValuesOf('timeZone')]);
  return [
    { id: '', label: 'UTC, unless chosen' },
    ...[...names].map((id) => ({ id, label: id === own ? `${id} (yours)` : id.replaceAll('_', ' ') })),
  ];
}
