import { elements } from '#ast/elements.ts';

/** Attributes that most types have: the guide explains them once. */
const common = new Set([
  'id',
  'label',
  'help_text',
  'error_message',
  'required',
  'col_span',
  'translations',
  'show_when',
  'hide_when',
  'require_when',
  'placeholder',
  'autocomplete',
]);

const elementLines = Object.entries(elements)
  .map(([type, { attrs }]) => [type, Object.keys(attrs).filter((name) => !common.has(name))] as const)
  .map(([type, own]) => `- ${type}${own.length > 0 ? `: ${own.join(', ')}` : ''}`)
  .join('\n');

/**
 * The form language on two pages, for a model: `get_form_language` returns it. docs/form-language.md is the reference.
 * test/mcp.test.ts creates a form from each example.
 */
export const formGuide = `# Writing a form

A form is a tree of JSON: a form has steps, a step has elements. Every node is {"type", "attrs", "children"}.

\`\`\`json
{
  "type": "form",
  "attrs": { "name": "Workshop", "description": "Three days at the loom." },
  "children": [
    {
      "type": "step",
      "attrs": { "title": "About you", "layout": "grid_2" },
      "children": [
        { "type": "text", "attrs": { "id": "name", "label": "Full name", "required": true }, "children": [] },
        { "type": "email", "attrs": { "id": "email", "label": "Email", "required": true }, "children": [] },
        {
          "type": "radio",
          "attrs": {
            "id": "size",
            "label": "T-shirt size",
            "options": ["Small", "Large", { "id": "none", "label": "No T-shirt, thank you" }]
          },
          "children": []
        }
      ]
    }
  ]
}
\`\`\`

## Elements
Each type with its own attributes:
${elementLines}

\`options\` are texts or {"id", "label"}; answers keep the id. \`"other": true\` adds a free answer. A hidden element takes
its value from the URL parameter of the same name. A composite groups elements; with \`"repeatable": true\` it is a list of rows.

Every question has \`id\` and \`label\`, and may have \`help_text\`, \`placeholder\`, \`required\`, \`col_span\` (1 to 4 columns of a grid),
\`show_when\`, \`hide_when\` and \`require_when\`. Ids are unique in the form: short and in English.
A step has \`title\`, \`description\`, \`layout\` (stack, row, grid_2, grid_3, grid_4), \`show_when\` and \`jumps\`.
Use one step for up to about eight questions.

## Conditions
{"element": "size", "is": "equals", "value": "Large"} asks for the answer to an earlier question. Other tests: not_equals,
contains, one_of, at_least, at_most, answered. Combine them with {"all": [...]}, {"any": [...]}, {"not": {...}}.
{"reference": "plan", ...} asks for a URL parameter.

## Texts that show answers
\`{{name}}\` in a label, help text, title or confirmation message shows the answer to an earlier question.

## Calculations
\`"formula": "sum({price} * {pieces})"\`: + - * / %, comparisons, if(a, b, c), sum, min, max, average, count, round,
points, age, days_between and more.

\`\`\`json
{
  "type": "form",
  "attrs": { "name": "Order" },
  "children": [
    {
      "type": "step",
      "attrs": { "title": "Your order" },
      "children": [
        {
          "type": "composite",
          "attrs": { "id": "items", "label": "Item", "repeatable": true },
          "children": [
            { "type": "number", "attrs": { "id": "price", "label": "Price", "min": 0 }, "children": [] },
            { "type": "number", "attrs": { "id": "pieces", "label": "Pieces", "min": 1, "step": 1 }, "children": [] }
          ]
        },
        {
          "type": "calculation",
          "attrs": { "id": "total", "label": "Total", "formula": "sum({price} * {pieces})", "decimals": 2 },
          "children": []
        },
        {
          "type": "textarea",
          "attrs": {
            "id": "reason",
            "label": "Why do you need so much?",
            "show_when": { "element": "total", "is": "at_least", "value": 1000 }
          },
          "children": []
        }
      ]
    }
  ]
}
\`\`\`

## Settings
Passed beside the tree as \`settings\`: confirmation_message, notification_email, access, opens_at, closes_at,
max_submissions, language, theme and more.

The schema of each part, with every attribute: call this tool with \`part\` (an element type, condition, settings, ...).
`;
