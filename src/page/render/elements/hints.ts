import { alignMoments } from '#ast/rules/moments.ts';
import type { InputElement } from '#ast/tree.ts';

type Hints = Readonly<Record<string, string | number | undefined>>;
type Moment = Extract<InputElement, { type: 'date' | 'datetime' | 'time' }>;

/**
 * What an element's rules tell the browser: where a calendar begins, how far an arrow steps, which files a chooser
 * offers. The form is `novalidate`, so the browser refuses nothing by itself: the check does, with all its words.
 * `today` is YYYY-MM-DD.
 */
export function hintsOf(element: InputElement, today: string): Hints {
  switch (element.type) {
    case 'number':
      return { step: element.attrs.step ?? 'any', min: element.attrs.min, max: element.attrs.max };
    case 'date':
    case 'datetime':
    case 'time':
      return momentHints(element, today);
    case 'file_upload':
      // A phone offers its camera by itself where pictures are accepted, and still lets one choose from the album.
      return { accept: element.attrs.accept?.join(',') };
    default:
      return {};
  }
}

function momentHints({ type, attrs }: Moment, today: string): Hints {
  const limit = (moment: string | undefined, timeOfDay: string): string | undefined => {
    if (moment === undefined) return undefined;
    const [, aligned] = alignMoments('', moment, today);
    return type === 'datetime' && aligned.length === 10 ? `${aligned}T${timeOfDay}` : aligned;
  };
  return { min: limit(attrs.min, '00:00'), max: limit(attrs.max, '23:59') };
}
