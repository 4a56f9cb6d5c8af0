/* Models of other tools: which they are, how their templates become formats, and what is said of
 * what can't be imported. */
#include "tests/unit/check.h"

#include "core/draft/import.h"
#include "core/draft/key_template.h"

static void parse_template(enum key_template_notation notation, const char *text, const char *want)
{
    struct arena arena = {0};
    struct attribute_parts names;
    CHECK(attribute_parts_init(&names, &arena));
    struct format format;
    struct key_template_parts parts = {.names = &names, .notation = notation};
    const char *wrong = key_template_parse(&parts, span_text(text), &format);
    CLEAN_UP(buf_clean_up) struct buf written = {0};
    if (!wrong)
        format_write(&format, &written);
    CHECK_TEXT(wrong ? wrong : buf_text(&written), want);
    attribute_parts_clean_up(&names);
    arena_clean_up(&arena);
}

static void test_templates_become_formats(void)
{
    parse_template(KEY_TEMPLATE_DOLLAR, "USER#${id}", "USER#{id}");
    parse_template(KEY_TEMPLATE_DOLLAR, "${shop}#ORDER#${order}#", "{shop}#ORDER#{order}#");
    parse_template(KEY_TEMPLATE_DOLLAR, "PROFILE", "PROFILE");
    parse_template(KEY_TEMPLATE_DOLLAR, "${user name}|$5", "{user_name}|$5");
    parse_template(KEY_TEMPLATE_BRACES, "MENU#{category}#{product_id}",
                   "MENU#{category}#{product_id}");
    parse_template(KEY_TEMPLATE_BRACES, "{2nd}$x", "{_2nd}$x");
}

static void test_templates_that_no_format_can_say(void)
{
    parse_template(KEY_TEMPLATE_DOLLAR, "", "it is empty");
    parse_template(KEY_TEMPLATE_DOLLAR, "USER#${id", "a { without its }");
    parse_template(KEY_TEMPLATE_DOLLAR, "USER#${}", "a part has no name");
    parse_template(KEY_TEMPLATE_DOLLAR, "{x}${id}", "a format's text can't contain { or }");
    parse_template(KEY_TEMPLATE_DOLLAR, "${a}#${a}", "a part is in it twice");
    parse_template(KEY_TEMPLATE_DOLLAR, "${a:5}",
                   "a padded part is no number, so that its value may begin with zeros");
    parse_template(KEY_TEMPLATE_DOLLAR, "${a:5:x}",
                   "a part is padded with another character than 0");
    parse_template(KEY_TEMPLATE_DOLLAR, "${a:x}", "the size of a padded part is no number");
    parse_template(KEY_TEMPLATE_DOLLAR, "${a:}",
                   "a part is padded to more digits than a number has");
    parse_template(KEY_TEMPLATE_DOLLAR, "${a:99}",
                   "a part is padded to more digits than a number has");
    parse_template(KEY_TEMPLATE_DOLLAR, "${address.city}",
                   "a part comes from within another attribute");
    parse_template(KEY_TEMPLATE_BRACES, "{a}{b}",
                   "two parts have no text between them, so that keys can't be split");
    parse_template(KEY_TEMPLATE_BRACES, "{a}#{b}#{c}#{d}#{e}#{f}#{g}#{h}#{i}#{j}#{k}#{l}#{m}",
                   "a format has at most 24 pieces");
}

static void test_parts_have_a_name_each(void)
{
    struct arena arena = {0};
    struct attribute_parts names;
    CHECK(attribute_parts_init(&names, &arena));
    CHECK_TEXT(attribute_parts_find(&names, SPAN_LITERAL("a_b")), "a_b");
    CHECK_TEXT(attribute_parts_find(&names, SPAN_LITERAL("a b")), "a_b_2");
    CHECK_TEXT(attribute_parts_find(&names, SPAN_LITERAL("a.b")), "a_b_3");
    CHECK_TEXT(attribute_parts_find(&names, SPAN_LITERAL("a b")), "a_b_2");
    CHECK_TEXT(attribute_parts_find(&names, SPAN_LITERAL("\xc3\xa9t\xc3\xa9")), "__t__");
    CHECK_TEXT(attribute_parts_find(&names, SPAN_LITERAL("-x")), "_-x");
    attribute_parts_clean_up(&names);
    arena_clean_up(&arena);
}

static void fails(const char *text, const char *part)
{
    struct arena arena = {0};
    struct imported imported;
    struct error err = {0};
    CHECK(!import_model(&arena, "m.json", span_text(text), &imported, &err));
    CHECK_INT(err.kind, ERROR_INVALID);
    CHECK_HAS(err.text, part);
    arena_clean_up(&arena);
}

static void test_what_is_no_model(void)
{
    fails("", "m.json:1:1: this is not JSON: ");
    fails("{\n \"a\": 1,\n}", "m.json:3:1: this is not JSON: ");
    fails("{}", "m.json: nothing was imported; the format is not known; these can be imported:");
    fails("[]", "m.json: nothing was imported; the format is not known; these can be imported:");
    fails("5", "m.json: nothing was imported; the format is not known; these can be imported:");
}

static void test_infrastructure_has_no_key_formats(void)
{
    static const char *const templates[] = {
        "{\"Resources\": {\"T\": {\"Type\": \"AWS::DynamoDB::Table\"}}}",
        "{\"Resources\": {\"T\": {\"Type\": \"AWS::Serverless::SimpleTable\"}}}",
        "AWSTemplateFormatVersion: 2010-09-09\nResources: {}\n",
    };
    static const char *const terraform[] = {
        "{\"resource\": {\"aws_dynamodb_table\": {\"t\": {\"name\": \"orders\"}}}}",
        "resource \"aws_dynamodb_table\" \"t\" {\n}\n",
        "{\"version\": 4, \"terraform_version\": \"1.9.0\", \"resources\": []}",
    };
    for (size_t i = 0; i < sizeof templates / sizeof *templates; i++)
        fails(templates[i], "m.json: nothing was imported; a CloudFormation template contains no "
                            "key formats; run \"ddbfs map TABLE\"");
    for (size_t i = 0; i < sizeof terraform / sizeof *terraform; i++)
        fails(terraform[i], "m.json: nothing was imported; a Terraform file contains no key "
                            "formats; run \"ddbfs map TABLE\"");
    fails("// aws_dynamodb_table\n{\"environments\": {}, \"tables\": {}}",
          "this is a map, not a model");
}

/* What came of a model, in one text: tables, kinds, indexes, and what was left out. */
static void add_key(const struct declared_key *key, struct buf *out)
{
    buf_printf(out, " %s=", key->attribute);
    format_write(&key->format, out);
    for (const struct declared_kind_format *each = key->by_kind; each; each = each->next) {
        buf_printf(out, "%s:", each->kind);
        format_write(&each->format, out);
        buf_add_text(out, each->next ? "," : "");
    }
}

static void add_table(const struct declared_table *table, struct buf *out)
{
    buf_printf(out, "table %s %s %c", table->path_name, table->base_name, table->separator);
    buf_printf(out, "%s%s\n", table->mtime ? " mtime=" : "", table->mtime ? table->mtime : "");
    for (const struct declared_record *kind = table->records; kind; kind = kind->next) {
        buf_printf(out, "kind %s", kind->name);
        for (size_t i = 0; i < kind->key_count; i++)
            add_key(&kind->keys[i], out);
        buf_add_char(out, '\n');
    }
    for (const struct declared_index *index = table->indexes; index; index = index->next) {
        buf_printf(out, "%s %s", index->local ? "local" : "index", index->name);
        for (size_t i = 0; i < index->partition_count; i++)
            add_key(&index->partition[i], out);
        for (size_t i = 0; i < index->sort_count; i++)
            add_key(&index->sort[i], out);
        buf_add_text(out, index->projects == PROJECTS_ALL    ? " all"
                          : index->projects == PROJECTS_KEYS ? " keys"
                                                             : "");
        for (size_t i = 0; i < index->include_count; i++)
            buf_printf(out, " +%s", index->includes[i]);
        buf_add_char(out, '\n');
    }
    for (const struct declared_type *type = table->types; type; type = type->next)
        buf_printf(out, "type %s %s\n", type->attribute, value_type_name(type->type));
    for (const struct declared_param *param = table->params; param; param = param->next) {
        buf_printf(out, "values %s", param->name);
        for (size_t i = 0; i < param->value_count; i++)
            buf_printf(out, " %s", param->values[i]);
        buf_add_char(out, '\n');
    }
}

/* TEXT, with ' for ", is a model of which WANT comes. */
static void imports(const char *text, const char *want)
{
    struct arena arena = {0};
    struct imported imported;
    struct error err = {0};
    CLEAN_UP(buf_clean_up) struct buf model = {0};
    CLEAN_UP(buf_clean_up) struct buf got = {0};
    for (; *text; text++)
        buf_add_char(&model, *text == '\'' ? '"' : *text);
    bool ok = import_model(&arena, "m.json", buf_span(&model), &imported, &err);
    for (const struct declared_table *each = imported.tables; ok && each; each = each->next)
        add_table(each, &got);
    for (const struct left_out *each = imported.left_out; ok && each; each = each->next)
        buf_printf(&got, "out %s: %s\n", each->where, each->why);
    CHECK_TEXT(ok ? buf_text(&got) : err.text, want);
    arena_clean_up(&arena);
}

#define ONETABLE(indexes, params, models)                                                          \
    "{'format': 'onetable:1.1.0', 'version': '0.1.0', 'indexes': {" indexes "},\n"                 \
    " 'params': {" params "},\n 'models': {" models "}}"
#define PRIMARY "'primary': {'hash': 'pk', 'sort': 'sk'}"

static void test_onetable_models(void)
{
    imports(ONETABLE(PRIMARY ", 'gs1': {'hash': 'gs1pk', 'sort': 'gs1sk', 'project': 'all'}", "",
                     "'Account': {'pk': {'value': '${_type}#${id}'}, 'sk': {'value': 'account#'},\n"
                     "  'id': {'type': 'string'}, 'state': {'type': 'string', 'map': 'gs1pk',\n"
                     "  'enum': ['open', 'shut']}, 'gs1sk': {'value': 'A#${id}'}},\n"
                     " 'User': {'pk': {'value': 'Account#${accountId}'},\n"
                     "  'sk': {'value': 'user#${email}'}}"),
            "table table NAME-OF-THE-TABLE #\n"
            "kind Account pk=Account#{id} sk=account#\n"
            "kind User pk=Account#{accountId} sk=user#{email}\n"
            "index gs1 gs1pk=Account:{state} gs1sk=Account:A#{id} all\n"
            "values state open shut\n");
}

static void test_onetable_types_dates_and_times(void)
{
    imports(ONETABLE(PRIMARY ", 'ls1': {'sort': 'when', 'type': 'local', 'project': ['a', 'b']}",
                     "'timestamps': true, 'updatedField': 'changed'",
                     "'Event': {'pk': {'value': 'e:${id}'}, 'sk': {'type': 'number'},\n"
                     "  'when': {'type': 'date'}},\n"
                     " 'Other': {'pk': {'value': 'o:${id}:${x}'}, 'sk': {'type': 'string'}}"),
            "table table NAME-OF-THE-TABLE # mtime=changed\n"
            "kind Event pk=e:{id} sk={sk}\n"
            "local ls1 pk={pk} when=Event:{when} +a +b\n"
            "type sk N\n"
            "type when N\n"
            "out line 5, models.Other: its sk is of type S, but of type N elsewhere in the "
            "table\n");
}

static void test_numbers_are_padded_with_zeros(void)
{
    imports(ONETABLE(PRIMARY, "",
                     "'Score': {'pk': {'value': 'g#${game}'}, 'sk': {'value': 's#${score:08:0}'},\n"
                     "  'score': {'type': 'number'}, 'game': {'type': 'string'}},\n"
                     "'Half': {'pk': {'value': 'h#${score:5}'}, 'sk': {'value': 'h'},\n"
                     "  'score': {'type': 'Number'}}, \n"
                     "'Name': {'pk': {'value': 'n#${name:5}'}, 'sk': {'value': 'n'}, 'name': {}}"),
            "table table NAME-OF-THE-TABLE #\n"
            "kind Score pk=g#{game} sk=s#{score:08}\n"
            "kind Half pk=h#{score_2:05} sk=h\n"
            "out line 7, models.Name.pk.value: a padded part is no number, so that its value may "
            "begin with zeros\n");
}

static void test_onetable_dates_are_texts_where_all_are(void)
{
    imports(
        ONETABLE(PRIMARY, "'timestamps': true, 'isoDates': true",
                 "'A': {'pk': {'value': 'a:${id}'}, 'sk': {'type': 'date', 'isoDates': false}}"),
        "table table NAME-OF-THE-TABLE # mtime=updated\n"
        "kind A pk=a:{id} sk={sk}\n");
    imports(ONETABLE(PRIMARY, "'isoDates': true",
                     "'A': {'pk': {'value': 'a:${id}'}, 'sk': {'type': 'date', 'ttl': true}}"),
            "table table NAME-OF-THE-TABLE #\n"
            "kind A pk=a:{id} sk={sk}\n"
            "type sk N\n");
}

static void test_kinds_that_differ_by_names_alone(void)
{
    imports(ONETABLE(PRIMARY, "",
                     "'A': {'pk': {'value': 'a#${id}'}, 'sk': {'value': 'x'}},\n"
                     "'B': {'pk': {'value': 'a#${no}'}, 'sk': {'value': 'x'}}"),
            "table table NAME-OF-THE-TABLE #\n"
            "kind A pk=a#{id} sk=x\n"
            "out line 4, models.B: its keys have the same format as those of \"A\": no key "
            "distinguishes the two\n");
}

static void test_the_separator_is_what_stands_between_parts(void)
{
    imports(
        ONETABLE(PRIMARY, "'timestamps': 'create', 'isoDates': true",
                 "'User': {'pk': {'value': 'u:${id}'}, 'sk': {'type': 'date'}},\n"
                 "'Post': {'pk': {'value': 'u:${id}'}, 'sk': {'value': 'p:${day}:${post-id}'}}"),
        "table table NAME-OF-THE-TABLE : mtime=created\n"
        "kind User pk=u:{id} sk={sk}\n"
        "kind Post pk=u:{id} sk=p:{day}:{post-id}\n");
}

static void test_onetable_leaves_out(void)
{
    imports(
        ONETABLE(PRIMARY ", 'inv': {'hash': 'sk', 'sort': 'pk'}, 'gs1': {'hash': 'nobody'},\n"
                         " 'gs2': {'hash': 'a', 'sort': 'b'}, 'bad': {}",
                 "",
                 "'A': {'pk': {'value': 'a#${id}'}, 'sk': {'value': 'a'}, 'a': {'crypt': true},\n"
                 "  'mail': {'unique': true}, 'x': {'unique': true, 'scope': '${id}'}},\n"
                 "'B': {'pk': {'value': true}, 'sk': {'value': 'b'}},\n"
                 "'C': {'pk': {'value': 'c#${id}'}},\n"
                 "'D': {'pk': {'value': 'a#${id}'}, 'sk': {'value': 'a'}},\n"
                 "'E': {'pk': {'value': 'e#${a.b}'}, 'sk': {'value': 'e'}},\n"
                 "'F': {'pk': {'value': '${a}${b}'}, 'sk': {'value': 'f'}},\n"
                 "'G': {'pk': {'value': 'g#${sk}'}, 'sk': {'value': 'f#${id}'}},\n"
                 "'H': {'pk': {'value': 'h'}, 'sk': {'value': 'f#${id}'}, 'a': {}},\n"
                 "'I': {'pk': {'type': 'boolean'}, 'sk': {'value': 'f#${id}'}},\n"
                 "'J': 5"),
        "table table NAME-OF-THE-TABLE #\n"
        "kind A pk=a#{id} sk=a\n"
        "kind H pk=h sk=f#{id}\n"
        "index inv sk={sk} pk={pk}\n"
        "index gs1 nobody=\n"
        "index gs2 a= b=\n"
        "out line 2, indexes.bad: an index must have a name, a \"hash\" and perhaps a \"sort\" "
        "attribute\n"
        "out line 4, models.A.a: it is encrypted\n"
        "out line 5, models.A.mail: the items that make it unique are no kind of the map\n"
        "out line 5, models.A.x: the items that make it unique in its scope are no kind of "
        "the map\n"
        "out line 6, models.B.pk.value: its value is computed by a function\n"
        "out line 7, models.C: it has no sk, a key of the table\n"
        "out line 8, models.D: its keys have the same format as those of \"A\": no key "
        "distinguishes the two\n"
        "out line 9, models.E.pk.value: a part comes from within another attribute\n"
        "out line 10, models.F.pk.value: two parts have no text between them, so that keys can't "
        "be split\n"
        "out line 11, models.G.pk.value: a part comes from another template\n"
        "out line 12, models.H: it is not in index gs2, because it has no b\n"
        "out line 13, models.I.pk: a key must be a string, a number or a date\n"
        "out line 14, models.J: a model must be an object of attributes, and have a name\n");
}

static void test_onetable_schemas_that_say_nothing(void)
{
    fails("{\"format\": \"onetable:2.0.0\", \"models\": {}}",
          "m.json: this OneTable schema has nothing that can be imported: line 1, format: only "
          "versions 1.x of schemas are supported");
    fails("{\"format\": \"onetable:1.0.0\", \"models\": {}}",
          "nothing that can be imported: line 1: \"indexes\" has a \"primary\" with");
}

#define ENTITY(name, rest)                                                                         \
    "{'model': {'entity': '" name "', 'service': 'Shop', 'version': '1'}, " rest "}"

static void test_electrodb_entities(void)
{
    imports(
        "{'employees': " ENTITY(
            "Employee",
            "'table': 'staff', 'attributes': {\n"
            "'employeeId': {'type': 'string'}, 'orgId': {'type': 'string', 'label': 'O'}},\n"
            "'indexes': {'staff': {'pk': {'field': 'pk', 'composite': ['orgId']},\n"
            "   'sk': {'field': 'sk', 'composite': ['employeeId']}},\n"
            " 'mine': {'index': 'gsi1', 'collection': ['work', 'Tasks'],\n"
            "  'pk': {'field': 'gsi1pk', 'composite': ['employeeId']},\n"
            "  'sk': {'field': 'gsi1sk', 'composite': []}}}") ",\n'tasks': " ENTITY("task",
                                                                                    "'table': "
                                                                                    "'staff', "
                                                                                    "'attributes': "
                                                                                    "{\n"
                                                                                    "'employeeId': "
                                                                                    "{'type': "
                                                                                    "'string'}, "
                                                                                    "'taskId': "
                                                                                    "{'type': "
                                                                                    "'string'},\n"
                                                                                    "'state': "
                                                                                    "{'type': "
                                                                                    "['Open', "
                                                                                    "'Done']}, "
                                                                                    "'rank': "
                                                                                    "{'type': "
                                                                                    "'number',\n"
                                                                                    "  'padding': "
                                                                                    "{'length': 5, "
                                                                                    "'char': "
                                                                                    "'0'}}},\n"
                                                                                    "'indexes': "
                                                                                    "{'all': "
                                                                                    "{'pk': "
                                                                                    "{'field': "
                                                                                    "'pk', "
                                                                                    "'composite': "
                                                                                    "[]},\n"
                                                                                    "   'sk': "
                                                                                    "{'field': "
                                                                                    "'sk', "
                                                                                    "'casing': "
                                                                                    "'upper', "
                                                                                    "'composite': "
                                                                                    "['taskId']}},"
                                                                                    "\n"
                                                                                    " 'mine': "
                                                                                    "{'index': "
                                                                                    "'gsi1', "
                                                                                    "'type': "
                                                                                    "'clustered', "
                                                                                    "'collection': "
                                                                                    "'work',\n"
                                                                                    "  'pk': "
                                                                                    "{'field': "
                                                                                    "'gsi1pk', "
                                                                                    "'composite': "
                                                                                    "['employeeId']"
                                                                                    ", 'casing': "
                                                                                    "'none'},\n"
                                                                                    "  'sk': "
                                                                                    "{'field': "
                                                                                    "'gsi1sk', "
                                                                                    "'composite': "
                                                                                    "['rank', "
                                                                                    "'state'], "
                                                                                    "'casing': "
                                                                                    "'none'}}}") "}",
        "table staff staff #\n"
        "kind Employee pk=$shop#o_{orgId:lower} sk=$employee_1#employeeid_{employeeId:lower}\n"
        "kind task pk=$shop sk=$TASK_1#TASKID_{taskId:upper}\n"
        "index gsi1 "
        "gsi1pk=Employee:$shop#employeeid_{employeeId:lower},task:$Shop#employeeId_{employeeId_2}"
        " gsi1sk=Employee:$work#tasks#employee_1,"
        "task:$work#rank_{rank:05}#state_{state}#task_1\n"
        "values state Open Done\n");
}

static void test_electrodb_templates_and_types(void)
{
    imports(
        "[" ENTITY(
            "user",
            "'attributes': {'id': {'type': 'string'}, 'seq': {'type': 'number'},\n"
            " 'email': {'type': 'string'}}, 'indexes': {\n"
            "'own': {'pk': {'field': 'id', 'composite': ['id']},\n"
            "        'sk': {'field': 'n', 'template': '${seq}'}},\n"
            "'mail': {'index': 'g', 'projection': ['a'], 'scope': 'X', 'pk': {'field': 'gpk',\n"
            "         'template': 'MAIL#${email}', 'composite': ['email']}},\n"
            "'seq': {'index': 'h', 'scope': 'X', 'pk': {'field': 'hpk', 'composite': ['id']}},\n"
            "'cast': {'index': 'i', 'pk': {'field': 'ipk', 'composite': ['seq'], 'cast': "
            "'number'}}}") "]",
        "table Shop NAME-OF-THE-TABLE #\n"
        "kind user id={id:lower} n={seq}\n"
        "index g gpk=user:mail#{email:lower} +a\n"
        "index h hpk=user:$shop$user_1_x#id_{id:lower}\n"
        "index i ipk=user:{seq}\n"
        "type n N\n"
        "type ipk N\n");
    imports(
        "{'entity': 'old', 'service': 's', 'version': '2', 'table': 't', 'attributes':\n"
        " {'a': {'type': 'string'}}, 'indexes': {'own': {'pk': {'field': 'pk', 'facets': ['a']},\n"
        " 'sk': {'field': 'sk', 'facets': []}}}}",
        "table t t #\n"
        "kind old pk=$s_2#a_{a:lower} sk=$old\n");
}

/* Each was compared with what the library makes. */
static void test_electrodb_keys_of_numbers(void)
{
    imports("[" ENTITY("n", "'attributes': {'id': {'type': 'string', 'field': 'other'},\n"
                            " 'kind': {'type': ['A', 'B']}, 'seq': {'type': 'number',\n"
                            "  'padding': {'length': 3, 'char': '0'}}, 'at': {'type': 'string'}},\n"
                            "'indexes': {'own': {'pk': {'field': 'id', 'composite': ['id']},\n"
                            "  'sk': {'field': 'sk', 'composite': ['seq']}},\n"
                            "'a': {'index': 'a', 'pk': {'field': 'apk', 'composite': ['kind'],\n"
                            "  'cast': 'number'}},\n"
                            "'b': {'index': 'b', 'pk': {'field': 'bpk', 'template': '${seq}'}},\n"
                            "'c': {'index': 'c', 'pk': {'field': 'cpk', 'template': '${at}',\n"
                            "  'cast': 'number'}}}") "]",
            "table Shop NAME-OF-THE-TABLE #\n"
            "kind n id=$shop#id_{id:lower} sk=$n_1#seq_{seq:03}\n"
            "index a apk=n:$shop$n_1#kind_{kind:lower}\n"
            "index b bpk=n:{seq_2}\n"
            "index c cpk=n:{at_2}\n"
            "type bpk N\n"
            "type cpk N\n");
}

static void test_types_of_indexes_that_are_left_out(void)
{
    imports("[" ENTITY("n", "'attributes': {'seq': {'type': 'number'}},\n"
                            "'indexes': {'own': {'pk': {'field': 'id', 'composite': []}},\n"
                            "'a': {'index': 'a', 'pk': {'field': 'apk', 'template': '${seq}'},\n"
                            "  'sk': {'field': 'ask', 'template': '${seq}${seq}'}}}") "]",
            "table Shop NAME-OF-THE-TABLE #\n"
            "kind n id=$shop$n_1\n"
            "index a apk= ask=\n"
            "type apk N\n"
            "out line 4, [0].indexes.a.sk: two parts have no text between them, so that keys can't "
            "be split\n");
}

static void test_electrodb_entities_of_several_tables(void)
{
    imports(
        "[" ENTITY(
            "a",
            "'table': 'x', 'indexes': {'o': {'pk': {'field': 'pk', 'composite': "
            "[]}}}") "," ENTITY("b",
                                "'table': 'y', 'indexes': {'o': {'pk': "
                                "{'field': 'id', 'composite': []}}}") "," ENTITY("c",
                                                                                 "'table': 'x', "
                                                                                 "'indexes': {'o': "
                                                                                 "{'pk': {'field': "
                                                                                 "'pk', "
                                                                                 "'composite': "
                                                                                 "[]}}}") "," ENTITY("d",
                                                                                                     "'table': 'x', 'indexes': {'o': {'pk': {'field': 'id', 'composite': []}}}") "]",
        "table x x #\nkind a pk=$shop$a_1\nkind c pk=$shop$c_1\n"
        "table y y #\nkind b id=$shop$b_1\n"
        "out line 1, [3]: its table has another key than the first entity's\n");
}

static void test_electrodb_composite_indexes(void)
{
    imports("[" ENTITY(
                "a",
                "'attributes': {'c': {'type': 'string', 'field': 'a1'},\n"
                "  'n': {'type': 'number', 'field': 'a2'}, 'm': {'type': 'string'}},\n"
                "'indexes': {'own': {'pk': {'field': 'pk', 'composite': ['m']}},\n"
                "'x': {'index': 'x', 'type': 'composite', 'pk': {'composite': ['c']},\n"
                "  'sk': {'composite': ['m', 'n']}}}") ",\n" ENTITY("b",
                                                                    "'attributes': {'d': {'type': "
                                                                    "'string', 'field': 'a1'}},\n"
                                                                    "'indexes': {'own': {'pk': "
                                                                    "{'field': 'pk', 'composite': "
                                                                    "[]}},\n"
                                                                    "'x': {'index': 'x', 'type': "
                                                                    "'composite', 'pk': "
                                                                    "{'composite': ['d']}}}") "]",
            "table Shop NAME-OF-THE-TABLE #\n"
            "kind a pk=$shop$a_1#m_{m:lower}\n"
            "kind b pk=$shop$b_1\n"
            "index x a1=a:{c*} m=a:{m_2*} a2=a:{n}\n"
            "type a2 N\n"
            "out line 6, [1]: it is not in index x, because it has no a2\n");
}

static void test_electrodb_leaves_out(void)
{
    imports(
        "[" ENTITY(
            "a",
            "'attributes': {'a': {'type': 'string', 'padding': {'length': 3, 'char': '0'}}},\n"
            "'indexes': {'own': {'pk': {'field': 'pk', 'composite': []}},\n"
            "'x': {'index': 'x', 'pk': {'field': 'xpk', 'composite': ['a']}},\n"
            "'y': {'index': 'y', 'pk': {'field': 'ypk', 'template': ':a'}},\n"
            "'z': {'index': 'z', 'pk': {'field': 'zpk', 'composite': ['b']}},\n"
            "'c': {'index': 'c', 'type': 'composite', 'pk': {'field': 'cpk'}},\n"
            "'d': {'index': 'd', 'pk': {}}}") ",\n" ENTITY("b",
                                                           "'indexes': {'own': {'pk': "
                                                           "{'field': 'id', 'composite': "
                                                           "[]}}}") ",\n7,\n" ENTITY("c",
                                                                                     "'ind"
                                                                                     "exes"
                                                                                     "': "
                                                                                     "{'"
                                                                                     "own'"
                                                                                     ": "
                                                                                     "{'"
                                                                                     "inde"
                                                                                     "x': "
                                                                                     "'x'}"
                                                                                     "}") ","
                                                                                          "\n" ENTITY(
                                                                                              "d",
                                                                                              "'att"
                                                                                              "ribu"
                                                                                              "tes'"
                                                                                              ": "
                                                                                              "{}, "
                                                                                              "'ind"
                                                                                              "exes"
                                                                                              "': "
                                                                                              "{'"
                                                                                              "own'"
                                                                                              ": "
                                                                                              "{'"
                                                                                              "pk':"
                                                                                              " {'"
                                                                                              "fiel"
                                                                                              "d': "
                                                                                              "'pk'"
                                                                                              ", "
                                                                                              "'com"
                                                                                              "posi"
                                                                                              "te':"
                                                                                              " []}"
                                                                                              "},\n"
                                                                                              " 'x'"
                                                                                              ": "
                                                                                              "{'"
                                                                                              "inde"
                                                                                              "x': "
                                                                                              "'x',"
                                                                                              " '"
                                                                                              "pk':"
                                                                                              " {'"
                                                                                              "fiel"
                                                                                              "d': "
                                                                                              "'oth"
                                                                                              "er',"
                                                                                              " '"
                                                                                              "comp"
                                                                                              "osit"
                                                                                              "e': "
                                                                                              "[]}}"
                                                                                              "}") "]",
        "table Shop NAME-OF-THE-TABLE #\n"
        "kind a pk=$shop$a_1\n"
        "kind d pk=$shop$d_1\n"
        "index x xpk=\n"
        "index y ypk=\n"
        "index z zpk=\n"
        "out line 9, [2]: this is no entity, which has a \"model\" and \"indexes\"\n"
        "out line 6, [0].indexes.c: an index must have a partition key\n"
        "out line 7, [0].indexes.d: an index must have a name, and a \"field\" for each of its "
        "keys\n"
        "out line 8, [1]: its table has another key than the first entity's\n"
        "out line 10, [3]: an entity must have a name, a service, and an index without \"index\", "
        "whose "
        "fields are the table's key\n"
        "out line 12, [4].indexes.x: another entity has other fields for this index\n"
        "out line 3, [0].indexes.x.pk: a part is padded other than by zeros in front of a "
        "number\n"
        "out line 4, [0].indexes.y.pk: it is in the notation of old versions, \":attribute\"\n"
        "out line 5, [0].indexes.z.pk: a part is no attribute of the entity\n");
}

#define TABLE                                                                                      \
    "{'tableName': 'poke', 'partitionKey': {'name': 'pk', 'type': 'string'},\n"                    \
    " 'sortKey': {'name': 'sk', 'type': 'string'}, 'indexes': {\n"                                 \
    " 'byTrainer': {'type': 'global', 'partitionKey': {'name': 'tr', 'type': 'string'},\n"         \
    "   'sortKey': {'name': 'level', 'type': 'number'}},\n"                                        \
    " 'byLevel': {'type': 'local', 'sortKey': {'name': 'level', 'type': 'number'}}}}"
#define TOOL(name, attributes)                                                                     \
    "{'entityName': '" name                                                                        \
    "', 'timestamps': true, 'schema': {'type': 'item', 'attributes': {" attributes                 \
    "}},\n 'table': " TABLE "}"

static void test_toolbox_entities(void)
{
    imports("[" TOOL("Pokemon",
                     "'id': {'type': 'string', 'key': true, 'savedAs': 'pk', 'transform':\n"
                     "  {'transformerId': 'prefix', 'prefix': 'POKEMON', 'delimiter': '#'}},\n"
                     "'sk': {'type': 'string', 'enum': ['ROOT'], 'hidden': true},\n"
                     "'level': {'type': 'number'}, 'trainer': {'type': 'string', 'savedAs': "
                     "'tr'}") ",\n" TOOL("Battle", "'pk': {'type': 'string', 'transform': "
                                                   "{'transformerId': 'pipe', 'transformers': [\n"
                                                   "  {'transformerId': 'prefix', 'prefix': 'B', "
                                                   "'delimiter': '#'},\n"
                                                   "  {'transformerId': 'suffix', 'suffix': 'Z', "
                                                   "'delimiter': '#'},\n"
                                                   "  {'transformerId': 'prefix', 'prefix': 'A', "
                                                   "'delimiter': '#'}]}},\n"
                                                   "'kind': {'type': 'string', 'savedAs': 'sk', "
                                                   "'enum': ['won', 'lost']}") "]",
            "table poke poke # mtime=_md\n"
            "kind Pokemon pk=POKEMON#{id} sk=ROOT\n"
            "kind Battle pk=A#B#{pk}#Z sk={kind}\n"
            "index byTrainer tr=Pokemon:{trainer} level=Pokemon:{level}\n"
            "local byLevel pk={pk} level=Pokemon:{level}\n"
            "type level N\n"
            "values kind won lost\n");
}

static void test_a_toolbox_table_alone(void)
{
    imports(TABLE, "table poke poke #\n"
                   "kind item pk={pk*} sk={sk*}\n"
                   "index byTrainer tr=item:{tr*} level=item:{level}\n"
                   "local byLevel pk={pk} level=item:{level}\n"
                   "type level N\n");
}

static void test_toolbox_indexes_of_several_attributes(void)
{
    imports("{'entityName': 'E', 'entityAttribute': true, 'schema': {'attributes': {\n"
            "'a': {'type': 'string', 'savedAs': 'pk'}, 'b': {'type': 'number', 'savedAs': 'n'},\n"
            "'c': {'type': 'string'}}}, 'table': {'tableName': 'poke',\n"
            "'partitionKey': {'name': 'pk', 'type': 'string'}, 'entityAttributeSavedAs': '_kind',\n"
            "'indexes': {'multi': {'type': 'global',\n"
            "  'partitionKeys': [{'name': 'c', 'type': 'string'}, {'name': '_kind', 'type': "
            "'string'}],\n"
            "  'sortKeys': [{'name': 'n', 'type': 'number'}]},\n"
            "'odd': {'partitionKeys': [{'name': 'z', 'type': 'number'}, {'name': 7}]}}}}",
            "table poke poke #\n"
            "kind E pk={a}\n"
            "index multi c=E:{c} _kind=E:E n=E:{b}\n"
            "type n N\n"
            "out line 8, table.indexes.odd: a key must have a \"name\", and be a string, a number "
            "or binary\n");
}

static void test_a_table_whose_kinds_are_computed_has_items(void)
{
    imports("{'entityName': 'E', 'schema': {'attributes': {\n"
            "'a': {'type': 'number', 'savedAs': 'pk'},\n"
            "'sk': {'type': 'string', 'hidden': true}}}, 'table': {'tableName': 'poke',\n"
            "'partitionKey': {'name': 'pk', 'type': 'string'},\n"
            "'sortKey': {'name': 'sk', 'type': 'string'}}}",
            "table poke poke #\n"
            "kind item pk={pk*} sk={sk*}\n"
            "out line 3, schema.attributes.sk: it is computed by the entity's function computeKey, "
            "or hidden\n");
}

static void test_onetable_without_a_format(void)
{
    imports("{'version': '0.0.1', 'indexes': {'primary': {'hash': 'pk', 'sort': 'sk'},\n"
            "'kinds': {'hash': '_type', 'sort': 'sk'}},\n"
            "'models': {'User': {'pk': {'type': 'string', 'value': '${_type}#${id}'},\n"
            "'sk': {'type': 'string', 'value': 'user#'}, 'id': {'type': 'string'}}}}",
            "table table NAME-OF-THE-TABLE #\n"
            "kind User pk=User#{id} sk=user#\n"
            "index kinds _type=User:User sk={sk}\n");
}

static void test_toolbox_leaves_out(void)
{
    imports(
        "[" TOOL(
            "A",
            "'pk': {'type': 'string', 'hidden': true, 'key': true}, 'sk': {'type': "
            "'string'}") "," TOOL("B",
                                  "'pk': {'type': 'string', 'keyLink': {'linkerId': "
                                  "'custom'}}") "," TOOL("C",
                                                         "'pk': {'type': "
                                                         "'string', "
                                                         "'keyDefault': "
                                                         "{'defaulterId': "
                                                         "'custom'}}") "," TOOL("D",
                                                                                "'pk': {'type': "
                                                                                "'string', "
                                                                                "'transform': "
                                                                                "{'transformerId': "
                                                                                "'custom'}}") "," TOOL("E",
                                                                                                       "'pk': "
                                                                                                       "{'type'"
                                                                                                       ": "
                                                                                                       "'list'"
                                                                                                       "}") "," TOOL("F",
                                                                                                                     "'pk': {'type': 'string'}, 'sk': {'type': 'string'}") ", 5]",
        "table poke poke # mtime=_md\n"
        "kind F pk={pk} sk={sk}\n"
        "index byTrainer tr= level=\n"
        "local byLevel pk={pk} level=\n"
        "type level N\n"
        "out line 31, [6]: this is neither an entity nor a table\n"
        "out line 1, [0].schema.attributes.pk: it is computed by the entity's function "
        "computeKey, or hidden\n"
        "out line 6, [1].schema.attributes.pk: its value is linked to other attributes by a "
        "function\n"
        "out line 11, [2].schema.attributes.pk: its default is computed by a function\n"
        "out line 16, [3].schema.attributes.pk: its value is transformed by a function\n"
        "out line 21, [4].schema.attributes.pk: a key must be a string, a number or binary\n");
    fails("[{\"tableName\": \"t\", \"partitionKey\": {\"name\": \"a\", \"type\": \"list\"}}]",
          "nothing that can be imported: line 1, [0]: a table's key must have a \"name\", and be");
}

static const struct check_test tests[] = {
    {"templates_become_formats", test_templates_become_formats},
    {"templates_that_no_format_can_say", test_templates_that_no_format_can_say},
    {"parts_have_a_name_each", test_parts_have_a_name_each},
    {"what_is_no_model", test_what_is_no_model},
    {"infrastructure_has_no_key_formats", test_infrastructure_has_no_key_formats},
    {"onetable_models", test_onetable_models},
    {"onetable_types_dates_and_times", test_onetable_types_dates_and_times},
    {"numbers_are_padded_with_zeros", test_numbers_are_padded_with_zeros},
    {"onetable_dates_are_texts_where_all_are", test_onetable_dates_are_texts_where_all_are},
    {"kinds_that_differ_by_names_alone", test_kinds_that_differ_by_names_alone},
    {"the_separator_is_what_stands_between_parts", test_the_separator_is_what_stands_between_parts},
    {"onetable_leaves_out", test_onetable_leaves_out},
    {"onetable_schemas_that_say_nothing", test_onetable_schemas_that_say_nothing},
    {"electrodb_entities", test_electrodb_entities},
    {"electrodb_templates_and_types", test_electrodb_templates_and_types},
    {"electrodb_keys_of_numbers", test_electrodb_keys_of_numbers},
    {"types_of_indexes_that_are_left_out", test_types_of_indexes_that_are_left_out},
    {"electrodb_entities_of_several_tables", test_electrodb_entities_of_several_tables},
    {"electrodb_composite_indexes", test_electrodb_composite_indexes},
    {"electrodb_leaves_out", test_electrodb_leaves_out},
    {"toolbox_entities", test_toolbox_entities},
    {"a_toolbox_table_alone", test_a_toolbox_table_alone},
    {"toolbox_indexes_of_several_attributes", test_toolbox_indexes_of_several_attributes},
    {"a_table_whose_kinds_are_computed_has_items", test_a_table_whose_kinds_are_computed_has_items},
    {"onetable_without_a_format", test_onetable_without_a_format},
    {"toolbox_leaves_out", test_toolbox_leaves_out},
};

CHECK_MAIN(tests)
