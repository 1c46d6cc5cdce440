/**
 * The look of every mail: the console's calm colours, light and dark. Readers that drop a style sheet show plain,
 * well-ordered text, which is why nothing depends on it. Contrast is 4.5:1 and more in both schemes.
 */
export const style = `
:root { color-scheme: light dark; supported-color-schemes: light dark; }
body { margin: 0; padding: 24px 12px; background: #f5f6f8; color: #1c2430;
  font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif; }
main { max-width: 560px; margin: 0 auto; padding: 28px 24px; background: #ffffff; border: 1px solid #dfe3e8; border-radius: 10px; }
h1 { margin: 0 0 16px; font-size: 22px; line-height: 1.3; }
h2 { margin: 28px 0 8px; font-size: 17px; line-height: 1.3; }
p { margin: 0 0 14px; overflow-wrap: anywhere; }
dl { margin: 0 0 14px; }
dt { margin: 14px 0 2px; color: #55606e; font-size: 14px; }
dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
a { color: #0b57c2; }
.button { display: inline-block; padding: 12px 20px; border-radius: 8px; background: #0b57c2; color: #ffffff; font-weight: 600; text-decoration: none; }
.address, .reason { color: #55606e; font-size: 14px; }
.reason { max-width: 560px; margin: 16px auto 0; padding: 0 24px; }
@media (prefers-color-scheme: dark) {
  body { background: #14181e; color: #e8ecf1; }
  main { background: #1c222b; border-color: #333c48; }
  dt, .address, .reason { color: #a9b4c2; }
  a { color: #8ab8ff; }
  .button { background: #8ab8ff; color: #10233f; }
}
`;
