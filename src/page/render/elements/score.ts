import { html } from '../../markup/html.ts';
import { withStyles } from './element-context.ts';

/** Styles of the result on the confirmation page (../quiz-result.ts), which only forms with a score show. */
const quizStyle = `
.quiz { margin-block-start: var(--6); }
.quiz h2 { margin-block: var(--6) var(--3); font-size: 1.25rem; }
.quiz dl { margin: 0; padding: var(--4) var(--5); background: var(--tint); border-radius: var(--round); }
.quiz :is(dt, .size) { color: var(--soft); }
.quiz dd { margin: 0; }
.quiz dd + dt { margin-block-start: var(--3); }
.quiz dd strong { font-size: 1.25rem; font-variant-numeric: tabular-nums; }
.quiz ol { margin: 0; padding: 0; list-style: none; }
.quiz li { padding-block: var(--4); border-block-start: 1px solid var(--line); }
.quiz h3 { margin: 0 0 var(--2); }
.quiz :is(dt, h3) { unicode-bidi: plaintext; }
`;

/** Visitors see a score after they submit. The script expects a box for each element. */
export const renderScore = withStyles<'score'>([quizStyle], () => html`<div class="field" hidden></div>`);
