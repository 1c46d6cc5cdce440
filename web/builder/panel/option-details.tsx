import { type ReactElement, useState } from 'react';
import { type ChoiceOption, idOf, labelOf, type Option } from '#ast/answers/options.ts';
import { limits } from '#ast/limits.ts';
import { TextField } from '../../design/field.tsx';
import { NumberInput } from '../../design/number-input.tsx';
import { ConditionField } from '../logic.tsx';
import { ShownImage } from './shown-image.tsx';
import { tidyOption } from '../model/options-text.ts';

type DetailsProps = {
  readonly option: Option;
  /** `option 2`: whose details they are, for who does not see where they stand. */
  readonly name: string;
  readonly others: readonly Option[];
  readonly isPublished: boolean;
  /** Whether some are chosen and others not: then each may count, and have places. */
  readonly areChosen: boolean;
  /** Whether each is a picture above its label. */
  readonly arePictures: boolean;
  readonly onChange: (option: Option) => void;
};

/** What an option says beside its label. */
export function OptionDetails({
  option,
  name,
  others,
  isPublished,
  areChosen,
  arePictures,
  onChange,
}: DetailsProps): ReactElement {
  const whole: ChoiceOption =
    typeof option === 'string' ? { id: idOf(option), label: labelOf(option) } : option;
  const set = (detail: Partial<Record<'points' | 'capacity' | 'image' | 'show_when', unknown>>): void => {
    const said = Object.entries({ ...whole, ...detail }).filter(([, value]) => value !== undefined);
    // What it must have is in it still.
    onChange(tidyOption(Object.fromEntries(said) as ChoiceOption));
  };
  return (
    <div className="option-details" role="group" aria-label={`Details of ${name}`}>
      {arePictures && (
        <ShownImage
          label="Picture"
          value={whole.image}
          error={undefined}
          onChange={(image) => set({ image })}
        />
      )}
      <OptionId
        option={whole}
        others={others}
        isPublished={isPublished}
        onChange={(id) => onChange(tidyOption({ ...whole, id }))}
      />
      {areChosen && (
        <div className="option-numbers">
          <NumberInput
            label="Places"
            value={whole.capacity}
            isWhole
            error={undefined}
            onChange={(value) => set({ capacity: value })}
          />
          <NumberInput
            label="Points"
            value={whole.points}
            isWhole={false}
            error={undefined}
            onChange={(value) => set({ points: value })}
          />
        </div>
      )}
      {areChosen && (
        <p className="field-description">
          Places: how many submissions may choose it, up to {limits.capacity.toLocaleString()}. Points: what
          it counts in a score.
        </p>
      )}
      {areChosen && (
        <ConditionField
          name="options"
          title="Offer when"
          value={whole.show_when}
          error={undefined}
          onChange={(condition) => set({ show_when: condition })}
        />
      )}
    </div>
  );
}

/** The id is taken over when the field is left, and only a free one; Escape puts the old one back. */
function OptionId({
  option,
  others,
  isPublished,
  onChange,
}: {
  option: ChoiceOption;
  others: readonly Option[];
  isPublished: boolean;
  onChange: (id: string) => void;
}): ReactElement {
  const [typed, setTyped] = useState<string | undefined>();
  const refusal = typed === undefined ? undefined : refuse(typed, others);
  const take = (): void => {
    if (typed !== undefined && typed !== option.id && !refusal) onChange(typed);
    setTyped(undefined);
  };
  return (
    <TextField
      label="Stored as"
      value={typed ?? option.id}
      onChange={setTyped}
      onBlur={take}
      onKeyDown={(event) => {
        if (event.key === 'Enter') take();
        if (event.key === 'Escape') setTyped(undefined);
      }}
      isReadOnly={isPublished}
      error={refusal}
      description={
        isPublished
          ? 'Fixed: this form was published, and answers keep it. Its label may change.'
          : 'What answers keep: it stays when the label changes.'
      }
      spellCheck="false"
      autoComplete="off"
    />
  );
}

function refuse(id: string, others: readonly Option[]): string | undefined {
  if (id.trim() === '') return 'Write what answers keep.';
  const other = others.find((option) => idOf(option) === id);
  return other && `“${labelOf(other)}” is stored as that already.`;
}
