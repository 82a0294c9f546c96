// A choice of variants: which one, and the form of that one.
import { useState } from '../vendor/preact.js';
import { div, label, option, select, use } from '../dom.js';
import { Field, fieldId, group } from './form.js';
import { field, kindOf, least, variantName, variantOf, variantsOf, withField } from './values.js';

/** @param {import('./form.js').FieldProps} props */
export function Variants(props) {
  const { form, node, set, pointer } = props;
  const variants = variantsOf(props.schema, form.root) ?? [];
  const [picked, setPicked] = useState(() => variantOf(node, variants, form.root));
  const schema = variants[picked] ?? {};
  const choose = (/** @type {number} */ index) => {
    setPicked(index);
    let next = least(variants[index], form.root);
    // What both variants know by the same name is kept.
    for (const key of Object.keys(variants[index].properties ?? {})) {
      const old = field(node, key);
      if (old && next?.kind === 'object' && !field(next, key)) next = withField(next, key, old);
    }
    set(next);
  };
  const id = `${fieldId(pointer)}-variant`;
  return [
    div(
      { class: 'field' },
      label({ for: id }, 'Variant'),
      select(
        { class: 'in', id, value: String(picked), onChange: (event) => choose(Number(event.currentTarget.value)) },
        variants.map((one, index) => option({ key: index, value: String(index) }, variantName(one, index))),
      ),
    ),
    kindOf(schema, '', form.root) === 'object' ? group({ ...props, schema }) : use(Field, { ...props, key: picked, schema: { ...schema, title: undefined }, needed: true, bare: true }),
  ];
}
