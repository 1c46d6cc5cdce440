/**
 * The look of every mail: the console's calm colours, light and dark. Readers that drop a style sheet show plain,
 * well-ordered text, which is why nothing depends on it. Contrast is 4.5:1 and more in both schemes.
 */
export const style = `
:root { color-scheme: light dark; supported-color-schemes: light dark; }
body { margin: 0; padding: 24px 12px; background: #f3f6f5; color: #16201d;
  font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif; }
main { max-width: 560px; margin: 0 auto; padding: 28px 24px; background: #ffffff; border: 1px solid #dbe2df; border-radius: 10px; }
h1 { margin: 0 0 16px; font-size: 22px; line-height: 1.3; }
h2 { margin: 28px 0 8px; font-size: 17px; line-height: 1.3; }
p { margin: 0 0 14px; overflow-wrap: anywhere; }
dl { margin: 0 0 14px; }
dt { margin: 14px 0 2px; color: #53605b; font-size: 14px; }
dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
a { color: #0b6655; }
.button { display: inline-block; padding: 12px 20px; border-radius: 8px; background: #0b6655; color: #ffffff; font-weight: 600; text-decoration: none; }
.address, .reason { color: #53605b; font-size: 14px; }
.reason { max-width: 560px; margin: 16px auto 0; padding: 0 24px; }
@media (prefers-color-scheme: dark) {
  body { background: #0f1513; color: #e8eeec; }
  main { background: #171f1c; border-color: #2c3733; }
  dt, .address, .reason { color: #a5b2ad; }
  a { color: #63cdb6; }
  .button { background: #63cdb6; color: #06231d; }
}
`;
