import { acceptAnswer, type CheckedAnswer, type Levels, refuseAnswer } from './rules.ts';

export const levelRules = <Attrs>(levels: (attrs: Attrs) => Levels) => {
  const check = (attrs: Attrs, value: unknown): CheckedAnswer<number> => {
    const { from, to } = levels(attrs);
    if (typeof value !== 'number' || !Number.isFinite(value)) return refuseAnswer('number');
    if (value < from) return { ok: false, broken: { rule: 'min', values: { limit: from } } };
    if (value > to) return { ok: false, broken: { rule: 'max', values: { limit: to } } };
    if (Number.isInteger(value)) return acceptAnswer(value);
    return { ok: false, broken: { rule: 'step', values: { step: 1, base: from } } };
  };
  return { kind: 'number', noun: 'choice', levels, check } as const;
};
